// A running server under `parley control`: what its callers, its health checks and its log show of each command.
import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Controlled } from '../../src/app/control/commands.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { controlGroup } from '../../src/cli/control.ts';
import { runCommand, type AdminEnd } from '../support/admin-command.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import type { PlatformClient } from '../support/platform-client.ts';
import { dataSource, RunningServer } from '../support/running-server.ts';
import { connectSocket, SocketCaller, socketDataSource, WITH_SOCKETS } from '../support/socket-peer.ts';
import { temporaryFolder } from '../support/voice.ts';
import { event, format, frames, keys } from '../support/wire-audio.ts';

const SAID = 'CANARY-said-by-a-caller';
const spoken = [format(), ...frames(joined(recorded('sentence'), silence(1500)))];

interface World {
  readonly server: RunningServer;
  readonly client: PlatformClient;
  readonly run: (...argv: readonly string[]) => Promise<AdminEnd>;
  /** The same, with its answer. */
  readonly control: (...argv: readonly string[]) => Promise<Controlled>;
}

/** @param expected - events of errors that the test brings about. */
async function world(...expected: readonly string[]): Promise<World> {
  const folder = temporaryFolder();
  const server = await RunningServer.start({
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    flags: [
      ...[...WITH_SOCKETS, '--log.level=info', '--synthesizer.engine=none', `--control.socket=${folder}/own/control.sock`],
      ...[`--bots.folder=${packageRoot()}/test/fixtures/voice-bots`, '--bots.default_bot=repeater'],
      ...['--recognizer.engine=command', `--recognizer.command=["echo","${SAID}"]`],
    ],
  });
  onTestFinished(() => server.close(expected));
  const run = (...argv: readonly string[]): Promise<AdminEnd> =>
    runCommand(controlGroup(), [...argv, `--socket=${folder}/own/control.sock`]);
  const control = async (...argv: readonly string[]): Promise<Controlled> => JSON.parse((await run(...argv, '--json')).out) as Controlled;
  return { server, client: await server.client(), run, control };
}

function health({ server }: World): Promise<Response> {
  return fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}/health/ready`);
}

describe('parley control', () => {
  it('drain: takes no new calls on either wire, and goes on with those that run; undrain: takes them again', async () => {
    const around = await world();
    const { server, client, run, control } = around;
    const [call, socket] = [client.call(), await SocketCaller.start(server)];
    await call.turn(event('SESSION_START'));
    await socket.replied(1);

    expect(await control('drain')).toMatchObject({ readiness: { ready: false, reasons: ['drained'] }, processes: [{ calls: 2 }] });
    expect(await (await health(around)).json()).toEqual({ ready: false, reasons: ['drained'] });
    expect([await server.metric('parley_ready'), await server.metric('parley_not_ready{reason="drained"}')]).toEqual([0, 1]);
    expect((await client.call().turn(event('SESSION_START'))).story.at(-1)).toMatch(/^FINAL TRANSFER/u);
    await expect(connectSocket(server)).rejects.toThrow('refused with 503');
    expect((await call.turn(keys('5'))).story.at(-1)).toMatch(/^FINAL/u);
    socket.say({ dtmf_input: { dtmf_events: ['DTMF_DIGIT_FIVE'] } });
    await socket.replied(2);

    const undrained = await run('undrain');
    expect([undrained.code, undrained.out.split('\n')[0]]).toEqual([0, 'ready']);
    expect((await health(around)).status).toBe(200);
    expect((await client.call().turn(event('SESSION_START'))).story.at(-1)).not.toMatch(/TRANSFER/u);
    (await SocketCaller.start(server)).peer.socket.close(1000);
    socket.peer.socket.close(1000);
    expect(await server.metric('parley_ready')).toBe(1);
  });

  it('trace: P-14 writes all lines of one call, those of others as before, and nothing of what a caller says', async () => {
    const { server, client, control } = await world();
    const [traced, other] = [client.call(), client.call()];
    for (const call of [traced, other]) await call.turn(event('SESSION_START'));
    expect((await control('trace', traced.ids.conversationId)).processes[0]?.traced).toMatchObject([
      { conversationId: traced.ids.conversationId, isHere: true },
    ]);
    for (const call of [traced, other]) {
      const turn = await call.turn(...spoken);
      // The bot was told, and says it again.
      expect(JSON.stringify(turn.responses)).toContain(SAID);
      await call.turn(event('SESSION_END'));
    }
    const debug = server.logged({ level: 'debug' });
    expect(new Set(debug.map(({ conversationId }) => conversationId))).toEqual(new Set([traced.ids.conversationId]));
    expect(debug.map((line) => line['event'])).toEqual(expect.arrayContaining(['turn_started', 'bot_asked', 'bot_answered']));
    expect(JSON.stringify(server.log)).not.toContain('CANARY');
    expect(server.log.filter(({ server: name, version }) => typeof name !== 'string' || typeof version !== 'string')).toEqual([]);
  });

  it('log-level: holds for all calls; status shows it', async () => {
    const { server, client, run } = await world();
    await run('log-level', 'debug', '--for=1h');
    await client.call().turn(event('SESSION_START'));
    expect(server.logged({ level: 'debug', event: 'turn_started' })).toHaveLength(1);
    const { code, out } = await run('status');
    expect(code).toBe(0);
    expect(out).toMatch(/^ready\n\nPROCESS +SERVER +VERSION +PID .*\nserver +\S{8} .* yes +1 +0 +debug until .* \(in 59 minutes\)\n$/u);
    expect(server.logged({ event: 'control' })).toHaveLength(1);
  });

  it('reload: says what is refused and why, and changes nothing of it', async () => {
    const { server, client, run } = await world('files_refused');
    writeFileSync(server.certificate.keyFile, 'broken');
    const { code, out } = await run('reload');
    expect(code).toBe(1);
    expect(out).toMatch(/^server {2}certificate stays as it was: .*key/mu);
    expect((await client.call().turn(event('SESSION_START'))).ending.code).toBe(0);
  });

  it('says what is wrong when nothing answers, or a command makes no sense', async () => {
    const socket = `--socket=${temporaryFolder()}/control.sock`;
    for (const [flag, why] of [[socket, 'no server answers there'] as const, ['--control.socket=', 'control.socket is not set'] as const]) {
      const { code, err } = await runCommand(controlGroup(), ['status', flag]);
      expect([code, err]).toEqual([1, expect.stringContaining(why)]);
    }
    for (const words of [['log-level', 'loud'], ['log-level', 'debug', '--for=25h'], ['trace']])
      expect(await runCommand(controlGroup(), [...words, socket])).toMatchObject({ code: 2 });
  });
});
