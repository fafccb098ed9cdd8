// `parley test` in this process against a scripted server, six times as fast as life: a busy machine still keeps up.
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommanderError } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import type { CallSurroundings } from '../../../../src/fake-platform/cli/call-access.ts';
import { testCommand } from '../../../../src/fake-platform/cli/test.ts';
import { EVENT_OUTPUT } from '../../../../src/contract/numbers.ts';
import { mulawWav, readWavLayout } from '../../../../src/speech/wav.ts';
import { tone, wavReply } from '../../../support/call-lab.ts';
import { ending, startScriptedSocketServer, welcome } from '../../../support/scripted-socket-server.ts';
import { listenFor, startScriptedServer, type ScriptedServer, type TurnScript } from '../../../support/scripted-server.ts';

/** Says welcome; ends the call upon any key. */
const brief: TurnScript = async (turn) => {
  await turn.halfClosed();
  if (turn.received[0]?.message.event_input?.event_type === 1)
    turn.send(wavReply(300, listenFor('INPUT_VOICE_DTMF', { digits: 1 }), { text: 'Welcome.' }));
  else if (turn.received[0]?.message.dtmf_input !== undefined)
    turn.send({
      prompts: wavReply(100, {}, { text: 'Goodbye.' }).prompts ?? [],
      output_events: [{ event_type: EVENT_OUTPUT.SESSION_END }],
    });
  else if (turn.received[0]?.message.event_input?.name === 'bonus') {
    const event = { event_type: EVENT_OUTPUT.CUSTOM_EVENT, name: 'thanks' };
    turn.send({ ...wavReply(100, listenFor('INPUT_VOICE_DTMF', { digits: 1 })), output_events: [event] });
  }
  turn.complete();
};

const FILE = `
tests:
  - name: ends upon a key
    welcome: { heard: welcome }
    steps:
      - press: '1'
        expect: { heard: goodbye, ends: ended }
  - name: wants too much
    steps:
      - wait_ms: 100
    expect: { heard: a joke, not_clipped: true }
`;

interface Ran {
  readonly code: number | undefined;
  readonly printed: readonly string[];
  readonly complaints: readonly string[];
}

let server: ScriptedServer;
let folder: string;
beforeEach(async () => {
  server = await startScriptedServer({ script: brief });
  folder = await mkdtemp(path.join(tmpdir(), 'parley-test-'));
  await mkdir(path.join(folder, 'scenarios'));
  await writeFile(path.join(folder, 'scenarios/brief.yaml'), FILE);
});
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(
  argv: readonly string[],
  onInterrupt: CallSurroundings['onInterrupt'] = () => () => undefined,
  target = server.target,
): Promise<Ran> {
  const printed: string[] = [];
  const complaints: string[] = [];
  let code: number | undefined;
  const surroundings: CallSurroundings = {
    ...{ clock: systemClock, isColoured: false, onInterrupt },
    openVoice: () =>
      Promise.resolve({
        speak: (text: string) => Promise.resolve(tone(text.length * 50)),
        changeRate: (samples: Int16Array) => samples,
        close: () => Promise.resolve(),
      }),
    print: (line) => printed.push(line),
    complain: (line) => complaints.push(line),
    setExitCode: (set) => (code = set),
  };
  const command = testCommand(surroundings).exitOverride();
  command.configureOutput({ writeErr: (text) => complaints.push(text), writeOut: (text) => printed.push(text) });
  try {
    await command.parseAsync([path.join(folder, 'scenarios'), '--target', target, '--org', 'o-1', '--pace', '6', ...argv], {
      from: 'user',
    });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode;
  }
  return { code, printed, complaints };
}

describe('parley test', () => {
  it('runs the tests of a folder, says how each went, and ends with 1 when one failed', async () => {
    const { code, printed } = await run(['--record-all', path.join(folder, 'all'), '--record-failures', path.join(folder, 'failed')]);
    const out = printed.join('\n');
    expect(code, out).toBe(1);
    expect(out).toMatch(/^passed {7}\S+brief.yaml:3 {2}ends upon a key {2}[\d.]+ s, slowest reply \d+ ms$/mu);
    expect(out).toMatch(
      /^FAILED {2}\S+brief.yaml:8 {2}wants too much\n {2}expected {2}call: heard "a joke"\n {2}found {5}heard "Welcome."/mu,
    );
    expect(out).toMatch(/^1 passed, 1 failed in /mu);
    expect(await readdir(path.join(folder, 'all'))).toEqual(['brief-ends-upon-a-key.wav', 'brief-wants-too-much.wav']);
    expect(await readdir(path.join(folder, 'failed'))).toEqual(['brief-wants-too-much.wav']);
    expect(readWavLayout(await readFile(path.join(folder, 'failed/brief-wants-too-much.wav')))).toMatchObject({
      channels: 2,
      sampleRateHz: 8000,
    });
  });

  it('W-14 reports silence over WebSocket after the time of the option, or of the limits of a test', async () => {
    // This server names one conversation in whatever it says.
    const test = (ends: string, limits: string): string =>
      `{ name: ${ends}, ${limits} steps: [{ wait_ms: 4000 }], expect: { ends: ${ends}, allowed_findings: [envelope_wrong] } }`;
    await writeFile(
      path.join(folder, 'scenarios/brief.yaml'),
      `tests: [${test('ended', '')}, ${test('hung_up', 'limits: { silence_ms: 0 },')}]`,
    );
    const sockets = await startScriptedSocketServer({
      script: async (socket) => {
        await welcome(socket, 100);
        await socket.next('NO_INPUT').then(
          () => {
            socket.respond(ending('SESSION_END'));
          },
          () => undefined,
        );
      },
    });
    try {
      const { code, printed } = await run(['--silence-after', '800', '--json'], undefined, sockets.target);
      expect(code, printed.join('\n')).toBe(0);
    } finally {
      sockets.close();
    }
  });

  it('prints JSON for programs, writes JUnit XML, and runs only what was asked for, as often as asked for', async () => {
    const junit = path.join(folder, 'report.xml');
    const { code, printed } = await run(['--json', '--junit', junit, '--grep', '/ends/', '--repeat', '3']);
    expect(code).toBe(0);
    const lines = printed.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.slice(0, 3)).toMatchObject(
      Array.from({ length: 3 }, () => ({ name: 'ends upon a key', status: 'passed', call: { outcome: 'ended' } })),
    );
    expect(lines.slice(3)).toMatchObject([{ summary: { ok: true, passed: 3, failed: 0, skipped: 0 } }]);
    expect(await readFile(junit, 'utf8')).toContain('name="ends upon a key (round 3)"');
    expect(new Set(server.turns.map((turn) => turn.received[0]?.message.conversation_id)).size).toBe(3);
  });

  it('ends with 2 and every place that is wrong, before any call', async () => {
    await writeFile(path.join(folder, 'scenarios/bad.yml'), 'tests:\n  - name: a\n    stepz: []\n  - name: a\n');
    const { code, complaints } = await run([]);
    expect(code).toBe(2);
    expect(complaints).toEqual([
      expect.stringMatching(/bad\.yml:3:5 {2}tests\[0\]\.stepz: unknown field "stepz"; a test has name, /u),
      expect.stringMatching(/bad\.yml:4:5 {2}tests\[1\]\.name: another test of this file has the same name/u),
    ]);
    expect(server.turns).toEqual([]);
  });

  it.each([
    [['--grep', 'nothing like this'], /no test has such a name/u],
    [['--grep', '/(/'], /no regular expression/u],
    [['--jobs', '0'], /from 1 to 10000/u],
    [['--jobs', '201'], /At most 200 calls/u],
    [['nowhere.yaml'], /nowhere\.yaml cannot be read/u],
    [['--token-file', 'nowhere'], /nowhere cannot be read/u],
    [['--ca', 'package.json'], /--ca package\.json: give a file of certificates as PEM/u],
  ])('refuses %j', async (argv, complaint) => {
    const { code, complaints } = await run(argv);
    expect([code === 0, complaints.join()]).toEqual([false, expect.stringMatching(complaint)]);
  });

  it('refuses a token that cannot be sent, and does not print it', async () => {
    const file = path.join(folder, 'token');
    await writeFile(file, 'first-secret\nsecond-secret\n');
    for (const argv of [
      ['--token-file', file],
      ['--token', 'gehei\u00df-secret'],
      ['--token', ''],
    ]) {
      const { code, complaints, printed } = await run(argv);
      expect([code, complaints.join()]).toEqual([2, expect.stringMatching(/visible ASCII/u)]);
      expect([...complaints, ...printed].join()).not.toContain('secret');
    }
  });

  it('goes on when a recording cannot be written, says so, and ends with 1', async () => {
    const junit = path.join(folder, 'report.xml');
    const taken = path.join(folder, 'scenarios/brief.yaml');
    const { code, printed, complaints } = await run(['--grep', '/ends/', '--repeat', '2', '--record-all', taken, '--junit', junit]);
    expect(printed.join('\n')).toMatch(/^2 passed, 0 failed in /mu);
    expect(await readFile(junit, 'utf8')).toContain('tests="2" failures="0"');
    expect([code, complaints]).toEqual([1, [expect.stringMatching(/not everything could be written: \S*EEXIST|ENOTDIR/u)]]);
  });

  it('names recordings in the order of the tests, and says in every report where they are', async () => {
    const test = (name: string, wait: number): string =>
      `{ name: ${name}, steps: [{ wait_ms: ${String(wait)} }], expect: { heard: a joke } }`;
    await writeFile(path.join(folder, 'scenarios/brief.yaml'), `tests: [${test('"a b"', 400)}, ${test('"a: b"', 1)}]`);
    const { printed } = await run(['--json', '--record-failures', folder]);
    const results = printed.map((line) => JSON.parse(line) as { name?: string; recordings?: readonly string[] });
    expect(results.find(({ name }) => name === 'a b')?.recordings).toEqual([path.join(folder, 'brief-a-b.wav')]);
    expect(results.find(({ name }) => name === 'a: b')?.recordings).toEqual([path.join(folder, 'brief-a-b_2.wav')]);
  });

  it('says why a step cannot be done whose recording is no WAV', async () => {
    await writeFile(path.join(folder, 'scenarios/brief.yaml'), 'tests: [{ name: a, steps: [{ wav: brief.yaml }] }]');
    const { code, complaints } = await run([]);
    const place = /brief\.yaml:1:30 {2}tests\[0\]\.steps\[0\]\.wav: .*RIFF/u;
    expect([code, complaints.join()]).toEqual([2, expect.stringMatching(place)]);
  });

  it('compares what was heard with recordings, at the pace of the test', async () => {
    await writeFile(path.join(folder, 'scenarios/welcome.wav'), mulawWav(tone(300)));
    await writeFile(path.join(folder, 'scenarios/other.wav'), mulawWav(tone(300).map((sample) => sample ^ 0x10)));
    const tests = [
      '{ name: good, pace: 2, welcome: { hears: welcome.wav }, expect: { hears: [welcome.wav] } }',
      `{ name: bad, welcome: { hears: ${path.join(folder, 'scenarios/other.wav')} } }`,
    ];
    await writeFile(path.join(folder, 'scenarios/brief.yaml'), `tests: [${tests.join()}]`);
    const { printed } = await run(['--json']);
    const results = printed.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(results.find(({ name }) => name === 'good')).toMatchObject({ status: 'passed', pace: 2 });
    expect(results.find(({ name }) => name === 'bad')).toMatchObject({
      status: 'failed',
      failures: [{ place: 'welcome', found: 'no reply begins to sound like it' }],
    });
    expect(JSON.stringify(results)).not.toContain('pieces');
  });

  it('lets the flow send its events at their times, and knows those that come back', async () => {
    const test = '{ name: a, flow_events: [{ at_ms: 900, name: bonus }], steps: [{ wait_ms: 2000 }], expect: { sends_event: thanks } }';
    await writeFile(path.join(folder, 'scenarios/brief.yaml'), `tests: [${test}]`);
    const { code, printed } = await run([]);
    expect(code, printed.join('\n')).toBe(0);
  });

  it('stops every call upon Ctrl-C, says how far it came, and ends with 130', async () => {
    const listeners: (() => void)[] = [];
    await writeFile(path.join(folder, 'scenarios/brief.yaml'), 'tests: [{ name: long, steps: [{ wait_ms: 600000 }] }, { name: other }]');
    const ran = run(['--jobs', '1'], (listener) => {
      listeners.push(listener);
      return () => listeners.splice(0);
    });
    await expect.poll(() => server.turns.length).toBeGreaterThan(1);
    for (const listener of listeners) listener();
    const { code, printed } = await ran;
    expect(code).toBe(130);
    expect(printed.join('\n')).toMatch(/^0 passed, 0 failed, 1 interrupted, 1 skipped in /mu);
    expect(listeners).toEqual([]);
  });

  it('names a server that is not there as the reason', async () => {
    server.close();
    const { code, printed } = await run(['--bail', '--jobs', '1']);
    expect(code).toBe(1);
    expect(printed.join('\n')).toMatch(/refused: nothing listens at the address/u);
    expect(printed.join('\n')).toMatch(/^0 passed, 1 failed, 1 skipped in /mu);
  });
});
