// `parley call` over WebSocket, as its users do it: against the real server, with TLS and the token check on, to the bundled bots.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { callCommand } from '../../src/fake-platform/cli/call.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import type { CallSurroundings } from '../../src/fake-platform/cli/call-access.ts';
import { makeFolder, removeFolder } from '../support/bots-folder.ts';
import { dataSource, RunningServer } from '../support/running-server.ts';
import { socketDataSource, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';

describe('the bundled bots over WebSocket', () => {
  let server: RunningServer;
  let folder = '';
  beforeAll(async () => {
    folder = await makeFolder({});
    server = await RunningServer.start({
      dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
      flags: [...WITH_SOCKETS, '--bots.default_bot=front-desk', '--media.reveal_prompt_text=true'],
    });
    await server.app.warmed;
  });
  afterAll(async () => {
    await server.close();
    await removeFolder(folder);
  });

  async function run(...argv: readonly string[]): Promise<{ readonly code: number | undefined; readonly out: readonly string[] }> {
    const tokenFile = path.join(folder, 'token.jws');
    await writeFile(tokenFile, await socketToken(server.issuer));
    const out: string[] = [];
    let code: number | undefined;
    const surroundings: CallSurroundings = {
      ...{ clock: systemClock, isColoured: false, openVoice: callerVoice },
      print: (line) => out.push(line),
      complain: () => undefined,
      setExitCode: (set) => (code = set),
      onInterrupt: () => () => undefined,
    };
    const access = ['--ca', server.certificate.certificateFile, '--token-file', tokenFile, '--org', server.issuer.claims.organizationId];
    await callCommand(surroundings).parseAsync([...argv, ...access], { from: 'user' });
    await server.quiet();
    return { code, out };
  }

  const target = (): string => `wss://localhost:${String(server.app.ready.websocket?.port)}`;

  it('W-05, W-08, W-29 hear a caller who interrupts, presses keys and is transferred, without a breach', async () => {
    const { code, out } = await run(
      target(),
      ...['--json', '--interrupt', '1500', '--press', '1', '--press', '0', '--expect', 'transfer', '--expect', 'text:/nine to five/'],
    );
    expect([code, resultOf(out)]).toMatchObject([0, { ok: true, outcome: 'transferred', findings: [] }]);
  });

  it('W-23, W-28 hear speech, say it back, and let the caller hang up', async () => {
    const { code, out } = await run(target(), ...['--json', '--agent', 'echo', '--say', 'hello parley', '--expect', 'prompts=2']);
    expect([code, resultOf(out)]).toMatchObject([0, { ok: true, outcome: 'hung_up', findings: [] }]);
  });

  it('W-50, W-52 are listed', async () => {
    const { code, out } = await run(target(), '--list');
    expect([code, out]).toEqual([
      0,
      ['appointments  Appointments', 'clinic  Clinic', 'code-line  Code line', 'echo  Echo', 'front-desk  Front desk', 'talk  Talk'],
    ]);
  });
});

function resultOf(lines: readonly string[]): unknown {
  return (JSON.parse(lines.at(-1) ?? '{}') as { readonly result?: unknown }).result;
}
