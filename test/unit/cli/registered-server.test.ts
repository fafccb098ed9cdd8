// What a doctor asks the server behind a registered address of a WebSocket.
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { serverQuestions } from '../../../src/cli/registered-server.ts';
import { loadProfile } from '../../../src/fake-platform/platform/profile.ts';
import { startScriptedSocketServer, type SocketServerOptions } from '../../support/scripted-socket-server.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Asks a server that does this; what came there is kept in `seen`. */
async function asked(server: SocketServerOptions, seen: string[] = []): Promise<unknown> {
  const running = await startScriptedSocketServer({
    list: (socket, { url, headers }) => {
      seen.push(url ?? '', headers.authorization ?? '');
      socket.once('message', (data: Buffer) => {
        seen.push(data.toString());
        socket.send(JSON.stringify({ virtual_agents: ['echo', 'front-desk'].map((id) => ({ id, name: id, description: '' })) }));
      });
    },
    ...server,
  });
  closers.push(() => {
    running.close();
  });
  const { listAgents } = serverQuestions({
    ...{ profile: loadProfile('fake'), clock: systemClock, authorities: [], socketPathPrefix: '/voice' },
  });
  return listAgents?.(
    {
      endpoint: { host: '127.0.0.1', port: running.port, isTls: false, isGrpc: false, isWebSocket: true },
      transport: 'websocket',
      organizationId: 'o-1',
      token: 'a.b.c',
    },
    new AbortController().signal,
  );
}

it('W-02, W-50 asks for the agents on the list path behind the prefix, with the token and the organization', async () => {
  const seen: string[] = [];
  expect(await asked({}, seen)).toEqual({ kind: 'listed', count: 2 });
  expect(seen).toEqual([
    '/voice/v1/listVirtualAgents',
    'Bearer a.b.c',
    '{"customer_org_id":"o-1","is_default_virtual_agent_enabled":true}',
  ]);
});

it('W-06 says why the server does not list them', async () => {
  expect(await asked({ refuse: 401 })).toEqual({ kind: 'refused', why: 'the server refused the token (HTTP status 401)' });
});
