import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Utterance } from '../../../../src/dialog/utterance.ts';
import { CommandRecognizer, type CommandRecognizerOptions } from '../../../../src/voice/recognizers/command.ts';
import { recognizerSuite, type Understanding } from '../../../suites/recognizer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { never, temporaryFolder } from '../../../support/voice.ts';

const PROGRAM = join(import.meta.dirname, '../../../fixtures/voice/recognizer.mjs');
const UTTERANCE: Utterance = { mulaw: new Uint8Array(8000), durationMs: 1000 };

type Limits = Partial<Omit<CommandRecognizerOptions, 'clock'>>;

function open(args: readonly string[], limits: Limits = {}): { recognizer: CommandRecognizer; clock: FakeClock } {
  const clock = new FakeClock();
  const recognizer = new CommandRecognizer({ command: [process.execPath, PROGRAM, ...args], env: {}, clock, ...limits });
  onTestFinished(() => recognizer.close());
  return { recognizer, clock };
}

const refused = (reason: string): unknown =>
  expect.objectContaining({ code: 'recognition_failed', message: expect.stringContaining(reason) as string });

/** The hanging program's process and its child's, once both are there. */
async function pids(file: string): Promise<number[]> {
  for (;;) {
    const found = existsSync(file) ? readFileSync(file, 'utf8').split(' ').map(Number) : [];
    if (found.length === 2) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
}

/** A process that has ended but was not collected by its parent counts as gone. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${String(pid)}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

recognizerSuite('CommandRecognizer', (understanding) => {
  const pidsFile = join(temporaryFolder(), 'pids');
  const { recognizer, clock } = open(argumentsFor(understanding, pidsFile), { limitMs: 1000 });
  return Promise.resolve({
    recognizer,
    clock,
    reached: async () => {
      await pids(pidsFile);
    },
  });
});

function argumentsFor(understanding: Understanding, pidsFile: string): readonly string[] {
  if (typeof understanding === 'object') return ['say', understanding.says];
  return { describes: ['describe'], fails: ['broken'], garbles: ['latin1'], hangs: ['hang', pidsFile] }[understanding];
}

describe('CommandRecognizer', { timeout: 120_000 }, () => {
  it.each([
    ['pcm16', 'format 1 rate 8000 bytes 16044'],
    ['mulaw', 'format 7 rate 8000 bytes 8058'],
  ] as const)('gives the program a WAV of %s and takes its trimmed output', async (audio, expected) => {
    const { recognizer, clock } = open(['describe'], { audio });
    expect(await recognizer.recognize(UTTERANCE, never())).toBe(expected);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes the answer of a program that does not read its input', async () => {
    const long: Utterance = { mulaw: new Uint8Array(2_000_000), durationMs: 250_000 };
    expect(await open(['deaf']).recognizer.recognize(long, never())).toBe('heard nothing');
  });

  it('keeps our environment, which may hold secrets, from the program', async () => {
    const bare = new CommandRecognizer({ command: [process.execPath, PROGRAM, 'environment'], clock: new FakeClock() });
    onTestFinished(() => bare.close());
    expect(await bare.recognize(UTTERANCE, never())).toBe('LANG PATH');
    expect(await bare.recognize(UTTERANCE, never(), { language: 'es-MX' })).toBe('CALLER_LANGUAGE LANG PATH');
  });

  it('shows the program only the environment it was given', async () => {
    const { recognizer } = open(['environment'], { env: { LANG: 'C.UTF-8' } });
    expect(await recognizer.recognize(UTTERANCE, never())).toBe('LANG');
  });

  it('says with which code a program ended', async () => {
    const failure = await open(['broken'])
      .recognizer.recognize(UTTERANCE, never())
      .catch((thrown: unknown) => thrown);
    expect(failure).toEqual(refused('code 3'));
  });

  it.each([
    ['does not exist', '/nowhere/recognizer', 'ENOENT'],
    ['cannot be executed', import.meta.filename, 'EACCES'],
    ['is no name at all', 'a\0b', 'ERR_INVALID_ARG_VALUE'],
  ])('fails when the program %s, each time anew', async (_, program, reason) => {
    const { recognizer } = open([], { command: [program], maxRunning: 1 });
    for (let time = 0; time < 2; time += 1) await expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused(reason));
  });

  it('kills a program that takes too long, with everything it has started', async () => {
    const file = join(temporaryFolder(), 'pids');
    const { recognizer, clock } = open(['hang', file], { limitMs: 1000 });
    const late = expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused('longer than 1000 ms'));
    const processes = await pids(file);
    expect(processes.map(isAlive)).toEqual([true, true]);
    clock.advance(1000);
    await late;
    await Promise.all(processes.map(gone));
  });

  it('kills the program when nobody wants the text any more, and takes that for no failure', async () => {
    const file = join(temporaryFolder(), 'pids');
    const { recognizer, clock } = open(['hang', file]);
    const leaving = new AbortController();
    const left = recognizer.recognize(UTTERANCE, leaving.signal);
    const processes = await pids(file);
    leaving.abort('hang_up');
    expect(await left).toBeUndefined();
    await Promise.all(processes.map(gone));
    expect(clock.pendingTimers).toBe(0);
    expect(await recognizer.recognize(UTTERANCE, leaving.signal)).toBeUndefined();
  });

  it('runs so many programs at once, lets so many wait, and refuses more', async () => {
    const { recognizer, clock } = open(['hang'], { maxRunning: 2, maxWaiting: 1, limitMs: 1000 });
    const taken = [1, 2, 3].map(() => expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused('longer than')));
    await expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused('too many'));
    clock.advance(1000);
    await Promise.all(taken);
  });

  it('answers those who wait once there is room', async () => {
    const { recognizer } = open(['describe'], { maxRunning: 1, maxWaiting: 2 });
    const texts = await Promise.all([1, 2, 3].map(() => recognizer.recognize(UTTERANCE, never())));
    expect(new Set(texts).size).toBe(1);
  });

  it('takes one who leaves out of the line', async () => {
    const { recognizer, clock } = open(['hang'], { maxRunning: 1, maxWaiting: 1, limitMs: 1000 });
    const running = expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused('longer than'));
    const leaving = new AbortController();
    const left = recognizer.recognize(UTTERANCE, leaving.signal);
    leaving.abort('hang_up');
    expect(await left).toBeUndefined();
    const next = expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused('longer than'));
    clock.advance(1000);
    await Promise.all([running, next]);
  });

  it('kills everything on close and takes nothing any more', async () => {
    const file = join(temporaryFolder(), 'pids');
    const { recognizer, clock } = open(['hang', file], { maxRunning: 1 });
    const asked = [1, 2].map(() => expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused('closed')));
    const processes = await pids(file);
    await recognizer.close();
    await Promise.all(asked);
    expect(isAlive(processes[0] ?? 0)).toBe(false);
    await Promise.all(processes.map(gone));
    expect(clock.pendingTimers).toBe(0);
    await expect(recognizer.recognize(UTTERANCE, never())).rejects.toEqual(refused('closed'));
  });
});
