// `parley conformance` as a command: what it prints, what it writes, and its exit codes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { CallSurroundings } from '../../../../../src/fake-platform/cli/call-access.ts';
import { conformanceCommand } from '../../../../../src/fake-platform/cli/conformance.ts';
import { platformPort } from '../../../../../src/fake-platform/cli/conformance/platform-signer.ts';
import { mulawWav } from '../../../../../src/speech/wav.ts';
import { startReferenceServer } from '../../../../fixtures/broken-servers/reference-server.ts';
import { startSocketReference } from '../../../../fixtures/broken-servers/ws-reference-server.ts';
import { longSpeech } from '../../../../support/conformance.ts';

const WAV = path.join(import.meta.dirname, '../../../../fixtures/speech/yes.wav');

/** Runs the command. */
async function run(
  ...words: readonly string[]
): Promise<{ readonly code: number | undefined; readonly out: string; readonly err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  let code: number | undefined;
  const surroundings: CallSurroundings = {
    clock: systemClock,
    isColoured: false,
    openVoice: () => Promise.reject(new Error('no voice is wanted')),
    print: (line) => out.push(line),
    complain: (line) => err.push(line),
    setExitCode: (value) => {
      code = value;
    },
    onInterrupt: () => () => undefined,
  };
  const command = conformanceCommand(surroundings).exitOverride();
  command.configureOutput({ writeErr: (text) => err.push(text) });
  await command.parseAsync(words, { from: 'user' }).catch((thrown: unknown) => {
    code = thrown instanceof Error && 'exitCode' in thrown ? Number(thrown.exitCode) : -1;
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

it('lists the checks without a server', async () => {
  const { code, out } = await run('--list', '--rule', 'G-42');
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^G-42 {2}must {2}chunk-size-and-form {2}A CHUNK carries/u) as string,
  });
});

it('lists the checks of sockets beside them, and looks at a server of sockets with those', async () => {
  expect((await run('--list')).out).toMatch(/^G-01 .*\n(?:.*\n)*W-40 {2}must {4}ping-answered /u);
  const server = await startSocketReference({ breach: 'ping_unanswered' });
  onTestFinished(() => {
    server.close();
  });
  const words = [server.target, '--org', 'o', '--wav', WAV, '--answer-seconds', '1'];
  const { code, out } = await run(...words, '--check', 'ping-answered', '--check', 'seq-is-own');
  expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('broken: W-40') as string });
  expect((await run(...words, '--rule', 'G-42')).err).toContain('has this rule or id: G-42');
});

it.each([
  [['--org', 'o'], 'name the target'],
  [['grpc://127.0.0.1:1'], '--org'],
  [['--list', '--check', 'no-such-check'], 'no check has this rule or id: no-such-check'],
  [['--list', '--rule', 'G-01', '--rule', 'X-01'], 'no check has this rule or id: X-01'],
  [['--list', '--rule', 'G-91'], 'G-91 has no check. It takes a reply larger'],
  [['grpc://127.0.0.1:1', '--org', 'o', '--answer-seconds', '9999'], 'Give a whole number from 1 to 60'],
  [['grpc://127.0.0.1:1', '--org', 'o', '--pace', '9999'], 'Give a number from 1 to 50'],
  [['grpc://127.0.0.1:1', '--org', 'o', '--jobs', '0'], 'Give a whole number from 1 to 64'],
  [['grpc://127.0.0.1:1', '--org', 'o', '--wav', WAV, '--platform', 'https://elsewhere.example'], 'is no platform of this machine'],
  [['grpc://127.0.0.1:1', '--org', 'o', '--press', '12x'], 'Give keys of a phone'],
])('says what is wrong with %j and ends with code 2 or that of the parser', async (words, said) => {
  const { code, err } = await run(...words);
  expect(err).toContain(said);
  expect(code).toBeGreaterThan(0);
});

it('names a server that nobody can talk to, and ends with code 1', async () => {
  const { code, out } = await run('grpc://127.0.0.1:1', '--org', 'o', '--wav', WAV);
  expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(/^refused: .*\nno check was run$/u) as string });
});

it('reports a failure with its exchange as text, as JSON and as a page without scripts', async () => {
  const server = await startReferenceServer({ breach: 'two_defaults' });
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-conformance-'));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const file = path.join(folder, 'report.html');
  const words = [server.target, '--org', 'o', '--wav', WAV, '--ours', '--check', 'one-default-agent', '--check', 'both-methods-served'];
  const text = await run(...words, '--html', file);
  expect(text.code).toBe(1);
  expect(text.out).toMatch(/^FAIL {2}G-07 {2}ours {2}one-default-agent/mu);
  expect(text.out).toMatch(/^does not conform {2}score 1\/2 \(50 %\), 1 failed, 0 not applicable; broken: G-07$/mu);
  expect(text.err).toContain('FAIL one-default-agent');
  const page = readFileSync(file, 'utf8');
  expect(page.indexOf('1 failed')).toBeGreaterThan(0);
  expect(page.indexOf('1 failed')).toBeLessThan(page.indexOf('1 passed'));
  expect(page).not.toMatch(/<script|https?:\/\/(?!127)|\son\w+=/u);
  const data: unknown = JSON.parse((await run(...words, '--json')).out);
  expect(data).toMatchObject({ ok: false, passed: 1, failed: 1, brokenRules: ['G-07'], target: server.target });
});

it('ends with code 0 where only advice was not followed, and shows it with its level in every report (G-44)', async () => {
  const server = await startReferenceServer({ breach: 'settings_on_chunk' });
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-conformance-'));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const file = path.join(folder, 'report.html');
  const words = [server.target, '--org', 'o', '--wav', WAV, '--pace', '8', '--check', 'settings-only-on-final', '--html', file];
  const { code, out } = await run(...words);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^adv\. {2}G-44 {2}advice {2}settings-only-on-final/mu) as string });
  expect(out).toMatch(/^conforms .* 0 failed, 0 not applicable; advice: G-44$/mu);
  expect(readFileSync(file, 'utf8')).toMatch(/1 advised<[^]*<td>advice<\/td>/u);
  const data: unknown = JSON.parse((await run(...words, '--json')).out);
  expect(data).toMatchObject({ ok: true, failed: 0, advisedRules: ['G-44'], results: [{ level: 'advice', verdict: 'advice' }] });
});

it('ends with code 0 where nothing applied, and says so', async () => {
  const server = await startReferenceServer();
  onTestFinished(() => {
    server.close();
  });
  const { code, out } = await run(server.target, '--org', 'o', '--wav', WAV, '--check', 'expired-refused');
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('nothing applied  0 failed, 1 not applicable') as string });
  expect(out).toContain('the server takes calls without a token, and none was given');
});

it('takes the address of a platform of this machine only', () => {
  expect(platformPort('http://127.0.0.1:8090')).toBe(8090);
  for (const address of ['8090', 'http://127.0.0.1', 'http://10.0.0.1:8090']) expect(() => platformPort(address)).toThrow(RangeError);
});

it('speaks a recording of more than 20 s, which some servers alone answer, and names what their answers break (G-42)', async () => {
  const server = await startReferenceServer({ breach: 'long_speech_small_chunks' });
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-conformance-'));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const [long, tooLong] = [path.join(folder, 'long.wav'), path.join(folder, 'too-long.wav')];
  writeFileSync(long, mulawWav(longSpeech()));
  writeFileSync(tooLong, mulawWav(new Uint8Array(121 * 8000)));
  const words = [server.target, '--org', 'o', '--pace', '32', '--rule', 'G-42'];
  expect((await run(...words, '--wav', WAV)).code).toBe(0);
  const { code, out } = await run(...words, '--wav', long);
  expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('a CHUNK that is not the last has 80 bytes') as string });
  expect((await run(...words, '--wav', tooLong)).err).toContain('is longer than 120 s');
});
