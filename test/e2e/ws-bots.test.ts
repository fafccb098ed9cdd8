// `parley call`, `parley test` and `parley load` over WebSocket, as their users do it: against the real server, with TLS and the
// token check on, to the bundled bots.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { scaledClock } from '../../src/base/scaled-clock.ts';
import { callCommand } from '../../src/fake-platform/cli/call.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import type { CallSurroundings } from '../../src/fake-platform/cli/call-access.ts';
import { testCommand } from '../../src/fake-platform/cli/test.ts';
import { makeFolder, removeFolder } from '../support/bots-folder.ts';
import { dataSource, RunningServer } from '../support/running-server.ts';
import { socketDataSource, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';

/** How much faster than life both sides run where the bots' scenarios are played. */
const PACE = 4;

describe('the bundled bots over WebSocket', () => {
  let server: RunningServer;
  let folder = '';
  beforeAll(async () => {
    folder = await makeFolder({});
    server = await started();
  });
  afterAll(async () => {
    await server.close();
    await removeFolder(folder);
  });

  async function started(clock?: Clock, ...flags: readonly string[]): Promise<RunningServer> {
    const running = await RunningServer.start({
      ...(clock === undefined ? {} : { clock }),
      dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
      flags: [...WITH_SOCKETS, '--bots.default_bot=front-desk', '--media.reveal_prompt_text=true', ...flags],
    });
    await running.app.warmed;
    return running;
  }

  async function run(
    running: RunningServer,
    command: typeof callCommand | typeof testCommand,
    ...argv: readonly string[]
  ): Promise<{ readonly code: number | undefined; readonly out: readonly string[] }> {
    const tokenFile = path.join(folder, 'token.jws');
    await writeFile(tokenFile, await socketToken(running.issuer));
    const out: string[] = [];
    let code: number | undefined;
    const surroundings: CallSurroundings = {
      ...{ clock: systemClock, isColoured: false, openVoice: callerVoice },
      print: (line) => out.push(line),
      complain: () => undefined,
      setExitCode: (set) => (code = set),
      onInterrupt: () => () => undefined,
    };
    const access = ['--ca', running.certificate.certificateFile, '--token-file', tokenFile, '--org', running.issuer.claims.organizationId];
    await command(surroundings).parseAsync([...argv, ...access], { from: 'user' });
    await running.quiet();
    return { code, out };
  }

  const targetOf = ({ app }: RunningServer): string => `wss://localhost:${String(app.ready.websocket?.port)}`;

  it('W-05, W-08, W-29 hear a caller who interrupts, presses keys and is transferred, without a breach', async () => {
    const { code, out } = await run(
      server,
      callCommand,
      targetOf(server),
      ...['--json', '--interrupt', '1500', '--press', '1', '--press', '0', '--expect', 'transfer', '--expect', 'text:/nine to five/'],
    );
    expect([code, resultOf(out)]).toMatchObject([0, { ok: true, outcome: 'transferred', findings: [] }]);
  });

  it('W-23, W-28 hear speech, say it back, and let the caller hang up', async () => {
    const { code, out } = await run(
      server,
      callCommand,
      targetOf(server),
      ...['--json', '--agent', 'echo', '--say', 'hello parley', '--expect', 'prompts=2'],
    );
    expect([code, resultOf(out)]).toMatchObject([0, { ok: true, outcome: 'hung_up', findings: [] }]);
  });

  it('W-50, W-52 are listed', async () => {
    const { code, out } = await run(server, callCommand, targetOf(server), '--list');
    expect([code, out]).toEqual([
      0,
      ['appointments  Appointments', 'clinic  Clinic', 'code-line  Code line', 'echo  Echo', 'front-desk  Front desk', 'talk  Talk'],
    ]);
  });

  it('do what their scenarios expect', async () => {
    const fast = await started(scaledClock(PACE), '--listen.no_input_ms=3000', '--websocket.send_no_input_timeout=true');
    try {
      const scenarios = path.join(packageRoot(), 'bots/scenarios');
      const { code, out } = await run(fast, testCommand, scenarios, '--target', targetOf(fast), '--jobs', '7', '--pace', String(PACE));
      expect(code, out.join('\n')).toBe(0);
      expect(out.join('\n')).toMatch(/^17 passed, 0 failed in /mu);
    } finally {
      await fast.close();
    }
  });
});

function resultOf(lines: readonly string[]): unknown {
  return (JSON.parse(lines.at(-1) ?? '{}') as { readonly result?: unknown }).result;
}
