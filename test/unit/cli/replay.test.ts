import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { readEvals, recordedCallers } from '../../../src/cli/evaluation/eval-file.ts';
import { replayCommand } from '../../../src/cli/replay.ts';
import { writeScenario } from '../../../src/cli/test-from.ts';
import { unsealed } from '../../../src/recording/read-recording.ts';
import { botModule, makeFolder, removeFolder } from '../../support/bots-folder.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { RECORDING_KEY, recordingLab } from '../../support/recording-lab.ts';

const clerk = {
  ...{ id: 'clerk', name: 'Clerk', version: 1 },
  session_start: () => go(null, say('Hello from clerk.').listen()),
  otherwise: () => go(null, say('Yes.').listen()),
};

const pinClerk = { ...clerk, otherwise: () => go(null, say('Your PIN?').listen({ sensitive: true })) };

/** A recorded call in which two keys are pressed, as an open file. */
async function recordedCall(called = clerk): Promise<string> {
  const lab = await recordingLab([bot<null>(called)]);
  const call = new MemoryCall(lab.sessions, { agentId: 'clerk' });
  await call.start();
  lab.clock.advance(4000);
  await call.press('1');
  lab.clock.advance(4000);
  await call.press('2');
  lab.clock.advance(4000);
  await call.hangUp();
  await lab.recording();
  const file = path.join(lab.path, 'call.parley-call');
  writeFileSync(file, unsealed(readFileSync(path.join(lab.path, readdirSync(lab.path)[0] ?? '')), [RECORDING_KEY]));
  return file;
}

const run = (says: string, ...argv: readonly string[]) => runWith(`go(null, say(${JSON.stringify(says)}).listen())`, ...argv);

/** @param answer - of today's bot to all but the start, as code. */
async function runWith(
  answer: string,
  ...argv: readonly string[]
): Promise<{ readonly code: number | undefined; readonly out: string; readonly err: string }> {
  const folder = await makeFolder({ 'clerk.mjs': botModule('clerk', `otherwise: (_state, { digits }) => ${answer},`) });
  onTestFinished(() => removeFolder(folder));
  const [lines, complaints]: [string[], string[]] = [[], []];
  let code: number | undefined;
  const print = (line: string): void => {
    lines.push(line);
  };
  const command = replayCommand(() => undefined, {
    ...{ clock: systemClock, isColoured: false, print, complain: (line) => complaints.push(line) },
    setExitCode: (set) => (code = set),
    onInterrupt: () => () => undefined,
  });
  command.exitOverride().configureOutput({ writeErr: print });
  await command.parseAsync([...argv, '--bots', folder], { from: 'user' });
  return { code, out: lines.join('\n'), err: complaints.join('\n') };
}

describe('parley replay', () => {
  it('says that a call goes as it went', async () => {
    const file = await recordedCall();
    const { code, out, err } = await run('Yes.', file);
    expect({ code, out }).toEqual({ code: 0, out: `${file}  same (4 turns)` });
    expect(JSON.parse(err)).toMatchObject({ event: 'recording_opened', purpose: 'replay', conversationId: 'call-1' });
  });

  it('shows the first turn that differs with both sides, and names the others', async () => {
    const file = await recordedCall();
    const { code, out } = await run('No.', file);
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      `${file}  turn 2 says something else`,
      '  prompts, after keys 1',
      '    recorded  Yes.',
      '    today     No.',
      '  then also  turn 3',
    ]);
  });

  it('says of how many turns something is not kept, and which next step is another one all the same', async () => {
    const file = await recordedCall(pinClerk);
    const asks = "go(null, say('Your PIN?').listen({ sensitive: true }))";
    expect(await runWith(asks, file)).toMatchObject({ code: 0, out: `${file}  same (2 of 4 turns compared)` });
    const transfers = `digits === '0' ? go(null, say('Wrong.').transfer({ reason: 'PIN' })) : ${asks}`;
    expect((await runWith(transfers, file)).out.split('\n')).toEqual([
      `${file}  same (2 of 4 turns compared)`,
      '  not compared from turn 3 on: it depends on what is not kept',
      '  turn 3 goes on otherwise: recorded "listen", today "transfer"',
    ]);
    const [json = ''] = (await runWith(transfers, file, '--json')).out.split('\n');
    expect(JSON.parse(json)).toMatchObject({ turns: 4, compared: 2, uncertainFrom: 3, uncertainNext: { turn: 3, at: 'kind' } });
  });

  it('goes on after a file that is no recording, and counts it', async () => {
    const file = await recordedCall();
    const broken = `${file}.parley-call`;
    writeFileSync(broken, 'no recording');
    const { code, out } = await run('Yes.', broken, file, '--json');
    const [first, second, summary] = out.split('\n').map((line) => JSON.parse(line) as unknown);
    expect(code).toBe(1);
    expect(first).toMatchObject({ file: broken, code: 'recording_unreadable' });
    expect(second).toMatchObject({ conversationId: 'call-1', bot: 'clerk', turns: 4, differences: [] });
    expect(summary).toEqual({ summary: { ok: false, calls: 2, different: 1 } });
  });

  it('ends with 2 for a file that is not there', async () => {
    await expect(run('Yes.', 'nowhere.parley-call')).rejects.toMatchObject({ exitCode: 2 });
  });
});

it('a recorded call is written as a scenario beside it', async () => {
  const file = await recordedCall();
  const out = path.join(path.dirname(file), 'clerk.yaml');
  const complaints: string[] = [];
  const written = (flags: Parameters<typeof writeScenario>[1]) => writeScenario(file, flags, (line) => complaints.push(line));
  expect(await written({ out })).toEqual([out]);
  expect(JSON.parse(complaints.join(''))).toMatchObject({ event: 'recording_opened', purpose: 'scenario', conversationId: 'call-1' });
  expect(readFileSync(out, 'utf8')).toMatch(
    /welcome:\n +heard:\n +- Hello from clerk\.\n +steps:\n +- press: "1"\n +expect:\n +heard:\n +- Yes\./u,
  );
  writeFileSync(out, 'edited');
  await expect(written({ out })).rejects.toThrow(`${out} exists; give another --out, or --force`);
  expect(readFileSync(out, 'utf8')).toBe('edited');
  await written({ out, force: true });
  expect(readFileSync(out, 'utf8')).toContain('Hello from clerk.');
});

it('a recorded caller of an evaluation has said what was recorded, and it is written who opened it', async () => {
  const call = await recordedCall();
  const text = `models: { one: { url: 'http://127.0.0.1:9/v1', model: small } }
personas: { tuesday: { model: one, from: ${call} } }
tests: [{ name: calls, persona: tuesday, goal: the hours }]`;
  const read = readEvals(text);
  if (!('file' in read)) throw new Error(JSON.stringify(read.problems));
  const complaints: string[] = [];
  const callers = await recordedCallers(read.file, 'desk.yaml', [], (line) => complaints.push(line));
  expect(callers.get('tuesday')).toContain('[keys 1], [keys 2]');
  expect(JSON.parse(complaints.join(''))).toMatchObject({ event: 'recording_opened', purpose: 'evaluation', conversationId: 'call-1' });
});
