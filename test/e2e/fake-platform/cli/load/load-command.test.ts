// `parley load` with worker processes of its own against a server over real sockets: what it prints, writes, and exits with.
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommanderError } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/base/clock.ts';
import { loadCommand } from '../../../../../src/fake-platform/cli/load.ts';
import type { LoadSurroundings } from '../../../../../src/fake-platform/cli/load/load-options.ts';
import { readLoadResult } from '../../../../../src/fake-platform/load/load-result.ts';
import type * as WorkerProcess from '../../../../../src/fake-platform/load/worker-process.ts';
import { parseTarget } from '../../../../../src/fake-platform/lines/target.ts';
import { compiledModule } from '../../../../support/compiled-program.ts';
import { freePort } from '../../../../support/free-port.ts';
import { madeUpResult, timesOf } from '../../../../support/load-result.ts';
import { startRelay } from '../../../../support/relay.ts';
import { ending, startScriptedSocketServer, welcome } from '../../../../support/scripted-socket-server.ts';
import { startSmallServer, type SmallServer } from '../../../../support/small-server.ts';
import { until } from '../../../../support/until.ts';

// From the sources it would start workers that compile them.
const { startWorkerProcess } = (await import(compiledModule('src/fake-platform/load/worker-process.ts'))) as typeof WorkerProcess;

interface Ran {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

let server: SmallServer;
let folder: string;
let workers = 0;

beforeAll(async () => {
  server = await startSmallServer();
  folder = await mkdtemp(path.join(tmpdir(), 'parley-load-'));
});
afterAll(async () => {
  server.process.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command in this process. @param interruptAfter - Ctrl-C when its workers have told of so many seconds. */
async function run(words: readonly string[], interruptAfter?: number): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  let code: number | undefined;
  let seconds = 0;
  let interrupt: () => void = () => undefined;
  const surroundings: LoadSurroundings = {
    clock: systemClock,
    isColoured: false,
    openVoice: () =>
      Promise.resolve({
        speak: () => Promise.resolve(new Uint8Array(1600)),
        changeRate: (samples) => samples,
        close: () => Promise.resolve(),
      }),
    print: (line) => out.push(line),
    complain: (line) => err.push(line),
    setExitCode: (given) => {
      code = given;
    },
    onInterrupt: (listener) => {
      interrupt = listener;
      return () => undefined;
    },
    startWorker: () => {
      workers += 1;
      const worker = startWorkerProcess();
      return {
        send: (order) => {
          worker.send(order);
        },
        listen: (onReport, onGone) => {
          worker.listen((report) => {
            onReport(report);
            if (report.kind === 'second') seconds += 1;
            if (seconds === interruptAfter) interrupt();
          }, onGone);
        },
        kill: () => {
          worker.kill();
        },
      };
    },
    touchFile: (file) => appendFile(file, ''),
    writeFile: (file, text) => writeFile(file, text),
  };
  const command = loadCommand(surroundings).exitOverride();
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeErr: (text) => err.push(text), writeOut: (text) => out.push(text) });
  try {
    await command.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // What the program makes of it: every misuse is 2.
    code = error.exitCode === 0 ? 0 : 2;
  }
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const ORGANIZATION = ['--org', 'o-1', '--mix', 'listen'];

describe('parley load', () => {
  it('measures with several workers, prints figures, and writes JSON and a report', async () => {
    const [json, html] = [path.join(folder, 'a.json'), path.join(folder, 'a.html')];
    const files = ['--json', json, '--html', html, '--expect', 'unheard <= 0, first-audio p99 < 0ms'];
    const ran = await run([
      server.target,
      ...ORGANIZATION,
      '--rate',
      '10/s',
      '--duration',
      '1s',
      '--arrivals',
      'fixed',
      '--workers',
      '2',
      ...files,
    ]);
    const result = readLoadResult(await readFile(json, 'utf8'), json);
    expect(result.calls).toMatchObject({ finished: 10, failed: 0, unheard: 0 });
    expect(result.firstAudio.count).toBe(10);
    // Each worker knows from the rehearsal what the welcome sounds like.
    expect(result.sound).toEqual({ compared: 10, wrong: 0, short: 0, unknown: 0 });
    expect(result.workers).toHaveLength(2);
    // On a machine that is busy with other tests the load may have been late, and says so.
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(/calls +10 over/u);
    expect(ran.out).toContain(result.saturated ? 'no result' : 'measured');
    expect(ran.err).toContain('rehearsing listen');
    // Whether the conditions hold stands wherever the figures stand.
    expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject({
      conditions: [
        { condition: 'unheard <= 0', value: 0, holds: true },
        { condition: 'first-audio p99 < 0ms', holds: false },
      ],
    });
    const page = await readFile(html, 'utf8');
    expect(page).toContain('<h1>Load on grpc://127.0.0.1');
    expect(page).toContain('holds  unheard &lt;= 0');
    expect(page).toContain('FAILS  first-audio p99');
  });

  it('has its callers say again what was lost with a connection, when that is asked for', async () => {
    const relay = await startRelay(parseTarget(server.target).port);
    const measuring = run([
      ...[relay.target, ...ORGANIZATION, '--rate', '20/s', '--duration', '2s', '--arrivals', 'fixed', '--repeat-lost-turns', '--json'],
    ]);
    // The rehearsal has the first connection, and then calls never stop coming.
    await until('the load has a connection', () => relay.taken >= 2);
    const cancel = systemClock.after(1000, () => {
      relay.cut();
    });
    const ran = await measuring;
    cancel();
    relay.close();
    const result = readLoadResult(ran.out, 'stdout');
    expect(result.calls).toMatchObject({ finished: 40, failed: 0 });
    expect(result).toMatchObject({ turns: { failed: 0 }, turnsLost: 0, failures: [] });
    expect(result.turnsRepeated + result.turnsReopened).toBeGreaterThan(0);
    expect(result.asked).toContain('--repeat-lost-turns');
  });

  it('prints what was measured on Ctrl-C, hangs every call up, and exits 130 in bounded time', async () => {
    const startedMs = systemClock.monotonicMs();
    const ran = await run([server.target, ...ORGANIZATION, '--rate', '10/s', '--duration', '10m', '--json'], 2);
    expect(ran.code).toBe(130);
    // A minute for a busy machine to start the worker; the load itself would take ten.
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(60_000);
    const result = readLoadResult(ran.out, 'stdout');
    expect(result.interrupted).toBe(true);
    expect(result.calls.failed).toBe(0);
  });

  it('plays the tests of a file of scenarios, which share its weight', async () => {
    const [file, bad] = [path.join(folder, 'mix.yaml'), path.join(folder, 'bad.yaml')];
    await writeFile(file, 'tests:\n  - name: hears\n  - name: leaves\n    hang_up_at_ms: 300\n');
    await writeFile(bad, 'tests:\n  - name: shaky\n    line: { jitter_ms: 80 }\n');
    const mix = ['--mix', `${file}:1,listen:1`];
    const load = ['--rate', '8/s', '--duration', '1s', '--arrivals', 'fixed'];
    // A disk that has become full meanwhile costs the report, and not the figures.
    const ran = await run([server.target, '--org', 'o-1', ...mix, ...load, '--json', '--html', '/dev/full']);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('the report cannot be written: ENOSPC') as string });
    const { scenarios, calls } = readLoadResult(ran.out, 'stdout');
    expect(scenarios.map(({ name, weight }) => [name, weight])).toEqual([
      ['hears', 0.5],
      ['leaves', 0.5],
      ['listen', 1],
    ]);
    expect(calls).toMatchObject({ finished: 8, failed: 0 });
    expect(await run([server.target, '--org', 'o-1', '--mix', bad, '--rate', '1/s'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('"shaky" asks for a bad line') as string,
    });
  });

  it('keeps to the limits of a file', async () => {
    const file = path.join(folder, 'short.yaml');
    await writeFile(file, 'tests:\n  - name: waits\n    limits: { call_ms: 200 }\n    steps:\n      - wait_ms: 5000\n');
    const ran = await run([server.target, '--org', 'o-1', '--mix', file, '--rate', '1/s', '--json']);
    expect(JSON.parse(ran.out)).toEqual({ failures: [expect.stringContaining('waits: call_limit: the call was not over after 200 ms')] });
  });

  it('W-08, W-14 loads a server over WebSocket: a socket for each call, and silence after the time of the file or the option', async () => {
    const file = path.join(folder, 'silent.yaml');
    const silent = (name: string, limits: string): string =>
      `  - { name: ${name}, limits: { call_ms: 4000${limits} }, steps: [{ stay_silent: true }] }`;
    await writeFile(file, ['tests:', silent('own', ', silence_ms: 300'), silent('given', '')].join('\n'));
    const sockets = await startScriptedSocketServer({
      script: async (socket) => {
        await welcome(socket, 100);
        await socket.next('NO_INPUT');
        socket.respond(ending('SESSION_END'));
      },
    });
    try {
      const load = ['--rate', '6/s', '--duration', '1s', '--arrivals', 'fixed', '--silence-after', '500', '--json'];
      // Meant for gRPC; here it changes nothing.
      const ran = await run([sockets.target, '--org', 'o-1', '--mix', file, ...load, '--calls-per-connection', '50']);
      const { scenarios, calls } = readLoadResult(ran.out, 'stdout');
      expect(scenarios.map(({ name }) => name)).toEqual(['own', 'given']);
      expect(calls).toMatchObject({ finished: 6, failed: 0, unheard: 0 });
      expect(sockets.failures).toEqual([]);
      // Two were rehearsed.
      expect(sockets.sockets).toHaveLength(8);
    } finally {
      sockets.close();
    }
  });

  it('names why nothing can be measured, before any load', async () => {
    const before = workers;
    const ran = await run([`grpc://127.0.0.1:${String(await freePort())}`, ...ORGANIZATION, '--rate', '10/s', '--json']);
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing was measured: listen: refused: nothing listens') as string,
    });
    expect(JSON.parse(ran.out)).toEqual({ failures: [expect.stringContaining('refused')] });
    expect(workers).toBe(before);
  });

  it.each(['--json', '--html'])('asks whether there is a place for %s before it measures anything', async (option) => {
    const ran = await run([server.target, ...ORGANIZATION, '--rate', '1/s', option, path.join(folder, 'nowhere', 'a')]);
    expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringContaining('cannot be written: ENOENT') as string });
    expect(ran.err).not.toContain('rehearsing');
  });

  it.each([
    [['--rate', '1/s'], "required option '--org <id>'"],
    [ORGANIZATION, 'give one of --rate, --calls, --steps and --find-capacity'],
    [[...ORGANIZATION, '--rate', '1/s', '--calls', '2'], 'give one of'],
    [[...ORGANIZATION, '--rate', 'fast'], '"fast" is no rate'],
    [['--org', 'o', '--rate', '1/s', '--mix', 'shout'], 'there is no scenario "shout"'],
    [['--org', 'o', '--rate', '1/s', '--mix', 'nowhere.yaml:2'], 'nowhere.yaml cannot be read'],
    [['--org', 'o', '--rate', '1/s', '--mix', 'listen:0'], 'a weight is a number above 0'],
    [[...ORGANIZATION, '--find-capacity', 'joy < 1'], 'there is no joy'],
    [[...ORGANIZATION, '--rate', '1/s', '--expect', 'failed'], 'is no condition'],
    [[...ORGANIZATION, '--rate', '1/s', '--metrics', 'here'], '--metrics here: write an address'],
    [[...ORGANIZATION, '--rate', '1/s', '--metrics', 'http://127.0.0.1:9/metrics'], 'the page cannot be reached (ECONNREFUSED)'],
    [[...ORGANIZATION, '--rate', '1/s', '--workers', '0'], 'Give a whole number from 1'],
  ])('refuses %j', async (words, message) => {
    const ran = await run(['grpc://127.0.0.1:1', ...words]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(message);
  });
});

describe('parley load compare', () => {
  async function files(after: ReturnType<typeof madeUpResult>): Promise<readonly [string, string]> {
    const [first, second] = [path.join(folder, 'before.json'), path.join(folder, 'after.json')];
    await writeFile(first, JSON.stringify(madeUpResult()));
    await writeFile(second, JSON.stringify(after));
    return [first, second];
  }
  const slower = madeUpResult({ firstAudio: timesOf(Array.from({ length: 1000 }, (_, index) => ((index % 100) + 1) * 2)) });

  it('puts both side by side, and fails over what is granted', async () => {
    const both = await files(slower);
    const ran = await run(['compare', ...both, '--fail-over', '10%']);
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(/first audio p50 +50\.0 ms +100 ms +x 2\.00 +WORSE/u);
    expect(ran.err).toContain('worse by more than 10 %: first audio p99');
    expect(await run(['compare', ...both])).toMatchObject({ code: 0 });
    expect(await run(['compare', ...both, '--fail-over', '150'])).toMatchObject({ code: 0 });
  });

  it('prints JSON, although the group has an option of that name', async () => {
    const ran = await run(['compare', ...(await files(slower)), '--fail-over', '10%', '--json']);
    expect(JSON.parse(ran.out)).toMatchObject({ ok: false, failed: ['first audio p50', 'first audio p90', 'first audio p99'] });
  });

  it('refuses files that are no results, and claims nothing of a saturated run', async () => {
    const [first, second] = await files(madeUpResult({ saturated: true }));
    expect(await run(['compare', first, second, '--fail-over', '10%'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('beware') as string,
    });
    expect(await run(['compare', first, path.join(folder, 'none.json')])).toMatchObject({
      code: 2,
      err: expect.stringContaining('ENOENT') as string,
    });
    await writeFile(second, '[]');
    expect(await run(['compare', first, second])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is no result of a load') as string,
    });
    expect(await run(['compare', first, first, '--fail-over', 'much'])).toMatchObject({ code: 2 });
  });
});
