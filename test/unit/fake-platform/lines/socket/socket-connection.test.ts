// Servers that are asked for their agents on a socket: what is said, and how each answer that is none is named.
import { afterEach, describe, expect, it } from 'vitest';
import { scaledClock } from '../../../../../src/base/scaled-clock.ts';
import { loadProfile } from '../../../../../src/contract/profile.ts';
import { openConnection } from '../../../../../src/fake-platform/lines/open-connection.ts';
import { parseTarget } from '../../../../../src/fake-platform/lines/target.ts';
import { CountedClock } from '../../../../support/counted-clock.ts';
import { startScriptedSocketServer, type SocketServerOptions } from '../../../../support/scripted-socket-server.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

describe('the list of agents', () => {
  const ANSWER = { virtual_agents: [{ id: 'echo', name: 'Echo', description: 'says it again' }] };

  async function asked(options: SocketServerOptions, signal?: AbortSignal): ReturnType<ReturnType<typeof openConnection>['listAgents']> {
    const server = await startScriptedSocketServer(options);
    closers.push(() => {
      server.close();
    });
    const clock = new CountedClock(scaledClock(10));
    const connection = openConnection({
      target: parseTarget(server.target),
      profile: loadProfile('fake'),
      clock,
      connectLimitMs: 20_000,
      token: 'a.b.c',
    });
    const answer = await connection.listAgents('o-1', 5000, signal);
    await connection.close();
    expect(clock.pendingTimers).toBe(0);
    return answer;
  }

  it('W-50, W-51, W-52 is asked for with one bare object on its own path and with the token', async () => {
    const seen: string[] = [];
    const agents = await asked({
      prefix: '/voice',
      list: (socket, { url, headers }) => {
        seen.push(url ?? '', headers.authorization ?? '');
        socket.once('message', (data: Buffer) => {
          seen.push(data.toString());
          socket.send(JSON.stringify(ANSWER));
          socket.close(1000);
        });
      },
    });
    expect(agents).toEqual([{ id: 'echo', name: 'Echo', isDefault: false }]);
    expect(seen).toEqual([
      '/voice/v1/listVirtualAgents',
      'Bearer a.b.c',
      '{"customer_org_id":"o-1","is_default_virtual_agent_enabled":true}',
    ]);
  });

  it('W-51 is taken from a server that leaves the socket open', async () => {
    const agents = await asked({
      list: (socket) => {
        socket.send(JSON.stringify({ virtual_agents: [] }));
      },
    });
    expect(agents).toEqual([]);
  });

  it.each<[string, string, SocketServerOptions]>([
    ['an upgrade that is refused (W-06)', 'unauthenticated', { refuse: 401 }],
    [
      'another organization (W-53)',
      'unauthenticated',
      {
        list: (socket) => {
          socket.send(
            JSON.stringify({ type: 'ERROR', seq: 1, ts: '2026-01-01T00:00:00Z', conversation_id: '', code: 'unauthorized', status: 401 }),
          );
        },
      },
    ],
    [
      'something that is no list',
      'garbage',
      {
        list: (socket) => {
          socket.send('{}');
        },
      },
    ],
    [
      'a close without a word',
      'closed_early',
      {
        list: (socket) => {
          socket.close(1000);
        },
      },
    ],
    ['no answer', 'no_answer', {}],
  ])('names %s as %s', async (_, code, options) => {
    expect(await asked(options)).toMatchObject({ code });
  });

  it('is not waited for longer than anybody waits', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await asked({}, stop.signal)).toMatchObject({ code: 'no_answer' });
  });
});
