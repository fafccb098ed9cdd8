import { describe, expect, it } from 'vitest';
import { commandIn, type Command } from '../../../../src/app/control/commands.ts';
import { ProcessControl, type ControlledServer } from '../../../../src/app/control/process-control.ts';
import { loadSettings, type LoadedSettings } from '../../../../src/app/config/load-settings.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';

const MINUTE_MS = 60_000;

function loadedWith(...flags: readonly string[]): LoadedSettings {
  return loadSettings({ argv: ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off', ...flags], env: {}, cwd: packageRoot() });
}

function world(server: Partial<ControlledServer> = {}) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const told: unknown[] = [];
  const root = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const configuration = { load: (): LoadedSettings => loadedWith('--log.level=info') };
  const control = new ProcessControl({
    ...{ name: 'server', instanceId: '0123456789', loaded: loadedWith('--log.level=info'), root, log: root, clock },
    load: () => configuration.load(),
  });
  const serve = (): void => {
    control.serves({
      readiness: { current: { ready: true, reasons: [] } },
      open: () => ({ calls: 3, turns: 2 }),
      setDrained: (isDrained) => told.push(isDrained),
      knows: (id) => id === 'here',
      trace: (id) => {
        told.push(id);
        return () => told.push(`end ${id}`);
      },
      checkNow: () => Promise.resolve([]),
      ...server,
    });
  };
  /** The levels of which a line is written now, about a call. */
  const written = (conversationId: string): readonly string[] => {
    lines.length = 0;
    root.debug({ conversationId }, 'debug');
    root.child({ conversationId }).debug({ event: 'bot' }, 'child');
    root.info({ conversationId }, 'info');
    return lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg);
  };
  return { clock, control, serve, told, lines, written, configuration };
}

const trace = (conversationId: string, untilMs: number): Command => ({ kind: 'trace', conversationId, untilMs });

describe('the log level of a running process', () => {
  it('is another one for a while, and then the configured one, which may have changed meanwhile', async () => {
    const { clock, control, serve, written, configuration } = world();
    serve();
    const untilMs = clock.nowMs() + MINUTE_MS;
    expect(await control.run({ kind: 'log_level', level: 'debug', untilMs })).toMatchObject({
      logLevel: 'debug',
      logLevelUntilMs: untilMs,
    });
    expect(written('a')).toEqual(['debug', 'child', 'info']);
    configuration.load = () => loadedWith('--log.level=warn');
    expect(await control.run({ kind: 'reload' })).toMatchObject({ logLevel: 'debug', reloaded: { taken: ['log.level'], refused: [] } });
    expect(written('a')).toEqual(['debug', 'child', 'info']);
    clock.advance(MINUTE_MS);
    expect(written('a')).toEqual([]);
    const after = await control.run({ kind: 'status' });
    expect([after.logLevel, after.logLevelUntilMs, clock.pendingTimers]).toEqual(['warn', undefined, 0]);
  });

  it('lasts as long as the last command says', async () => {
    const { clock, control, serve, written } = world();
    serve();
    await control.run({ kind: 'log_level', level: 'debug', untilMs: clock.nowMs() + MINUTE_MS });
    await control.run({ kind: 'log_level', level: 'error', untilMs: clock.nowMs() + 2 * MINUTE_MS });
    clock.advance(MINUTE_MS);
    expect(written('a')).toEqual([]);
    clock.advance(MINUTE_MS);
    expect(written('a')).toEqual(['info']);
  });
});

describe('the trace of a call', () => {
  it('writes every line about it and none more about others, until its time is over', async () => {
    const { clock, control, serve, written, told } = world();
    serve();
    const untilMs = clock.nowMs() + MINUTE_MS;
    expect((await control.run(trace('here', untilMs))).traced).toEqual([{ conversationId: 'here', untilMs, isHere: true }]);
    expect([written('here'), written('other')]).toEqual([['debug', 'child', 'info'], ['info']]);
    clock.advance(MINUTE_MS);
    expect([written('here'), told]).toEqual([['info'], ['here', 'end here']]);
    expect((await control.run({ kind: 'status' })).traced).toEqual([]);
  });

  it('is one of twenty at most: one more ends the oldest', async () => {
    const { clock, control, serve, written } = world();
    serve();
    const untilMs = clock.nowMs() + MINUTE_MS;
    for (let index = 0; index <= 20; index += 1) await control.run(trace(`call ${String(index)}`, untilMs));
    expect((await control.run({ kind: 'status' })).traced).toHaveLength(20);
    expect([written('call 0'), written('call 1'), written('call 20')].map(({ length }) => length)).toEqual([1, 3, 3]);
    control.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a controlled process', () => {
  it('is drained and undrained, and says what a process that starts now must be told', async () => {
    const { clock, control, serve, told } = world();
    serve();
    const untilMs = clock.nowMs() + MINUTE_MS;
    await control.run({ kind: 'drain' });
    await control.run({ kind: 'log_level', level: 'debug', untilMs });
    await control.run(trace('here', untilMs));
    expect(control.standing).toEqual([{ kind: 'drain' }, { kind: 'log_level', level: 'debug', untilMs }, trace('here', untilMs)]);
    await control.run({ kind: 'undrain' });
    clock.advance(MINUTE_MS);
    expect([told, control.standing]).toEqual([[true, 'here', false, 'end here'], []]);
  });

  it('carries out during its start what was commanded, when it runs', async () => {
    const { control, serve, lines } = world();
    const reloaded = control.everywhere({ kind: 'reload' });
    await flushMicrotasks();
    expect(lines.join('')).not.toContain('reloaded');
    serve();
    expect(await reloaded).toMatchObject({ processes: [{ reloaded: { unchanged: ['log.level'] } }], silent: 0 });
  });

  it('passes a command to the processes that it has started, at the same time', async () => {
    const passed: Command[] = [];
    const { control, serve } = world({
      checkNow: () => Promise.resolve([]),
      others: (command) => {
        passed.push(command);
        return Promise.resolve({ processes: [], silent: 1 });
      },
    });
    serve();
    expect(await control.everywhere({ kind: 'status' })).toMatchObject({
      readiness: { ready: true },
      processes: [{ process: 'server', server: '01234567', calls: 3, turns: 2, logLevel: 'info', traced: [] }],
      silent: 1,
    });
    expect(passed).toEqual([{ kind: 'status' }]);
  });
});

describe('a reload', () => {
  it('keeps what there was and says why, where the configuration or a file is broken', async () => {
    const { control, serve, configuration } = world({
      checkNow: () => Promise.resolve([{ what: 'certificate', verdict: 'refused', why: 'it ended' }]),
    });
    serve();
    configuration.load = () => {
      throw new AppError('config_invalid', 'log.level is no level');
    };
    const { logLevel, reloaded } = await control.run({ kind: 'reload' });
    expect([logLevel, reloaded?.refused]).toEqual([
      'info',
      [
        { what: 'certificate', why: 'it ended' },
        { what: 'log.level', why: 'log.level is no level' },
      ],
    ]);
  });

  it('gives up on files that do not answer', async () => {
    const { clock, control, serve } = world({ checkNow: () => new Promise(() => undefined) });
    serve();
    const reloaded = control.run({ kind: 'reload' });
    await clock.advanceAsync(10_000);
    expect((await reloaded).reloaded?.refused).toMatchObject([{ what: 'files' }]);
  });

  it('is done once more for all that ask while it runs', async () => {
    let checks = 0;
    const waiting: (() => void)[] = [];
    const { control, serve } = world({
      checkNow: () => {
        checks += 1;
        return new Promise((resolve) => {
          waiting.push(() => {
            resolve([]);
          });
        });
      },
    });
    serve();
    const reloads = [control.run({ kind: 'reload' })];
    await flushMicrotasks();
    reloads.push(control.run({ kind: 'reload' }), control.run({ kind: 'reload' }));
    await flushMicrotasks();
    expect(checks).toBe(1);
    waiting[0]?.();
    await flushMicrotasks();
    waiting[1]?.();
    await Promise.all(reloads);
    expect(checks).toBe(2);
  });
});

describe('a sent command', () => {
  it.each([
    [{ kind: 'status' }, { kind: 'status' }],
    [
      { kind: 'log_level', level: 'debug', forMs: 1000 },
      { kind: 'log_level', level: 'debug', untilMs: 1001 },
    ],
    [{ kind: 'trace', conversationId: 'a', forMs: 1000 }, trace('a', 1001)],
  ])('%j is understood', (sent, command) => {
    expect(commandIn(sent, 1)).toEqual(command);
  });

  it.each([
    undefined,
    null,
    'drain',
    { kind: 'stop' },
    { kind: 'log_level', level: 'loud', forMs: 1000 },
    { kind: 'log_level', level: 'debug' },
    { kind: 'log_level', level: 'debug', forMs: 999 },
    { kind: 'trace', conversationId: 'a', forMs: 86_400_001 },
    { kind: 'trace', conversationId: '', forMs: 1000 },
    { kind: 'trace', conversationId: 'a'.repeat(513), forMs: 1000 },
  ])('%j is refused', (sent) => {
    expect(() => commandIn(sent, 1)).toThrow(AppError);
  });
});
