// What every recognizer must do, whoever understands the words.
import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../src/dialog/utterance.ts';
import type { OwnedRecognizer } from '../../src/voice/recognizers/owned-recognizer.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { never } from '../support/voice.ts';

/** What understands an utterance does with it. */
export type Understanding =
  /** Answers with this text. */
  | { readonly says: string }
  /** Answers with the format, rate and bytes of the WAV file that it got, as `format 1 rate 8000 bytes 16044`. */
  | 'describes'
  /** Fails, and writes CANARY where its answer should be. */
  | 'fails'
  /** Answers with something that is no UTF-8. */
  | 'garbles'
  /** Takes the utterance and says nothing. */
  | 'hangs';

/** A recognizer whose time limit is 1,000 ms on the fake clock. */
export interface OpenedRecognizer {
  readonly recognizer: OwnedRecognizer;
  readonly clock: FakeClock;
  /** Resolves when so many utterances have reached what understands them. */
  readonly reached: (count: number) => Promise<void>;
}

const UTTERANCE: Utterance = { mulaw: new Uint8Array(8000), durationMs: 1000 };

async function failureOf(asked: Promise<unknown>): Promise<string> {
  const thrown: unknown = await asked.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(thrown).toMatchObject({ code: 'recognition_failed' });
  const everything = JSON.stringify(thrown, Object.getOwnPropertyNames(thrown));
  expect(everything).not.toContain('CANARY');
  return everything;
}

export function recognizerSuite(name: string, open: (understanding: Understanding) => Promise<OpenedRecognizer>): void {
  describe(`${name}, like every recognizer`, { timeout: 120_000 }, () => {
    it('gives what was said as 16-bit samples of 8 kHz in a WAV file', async () => {
      const { recognizer, clock } = await open('describes');
      expect(await recognizer.recognize(UTTERANCE, never())).toBe('format 1 rate 8000 bytes 16044');
      expect(clock.pendingTimers).toBe(0);
    });

    it.each([
      ['in any script', 'grüß dich 👋', 'grüß dich 👋'],
      ['without the blanks around it', ' four two \n', 'four two'],
    ])('takes text %s', async (_, says, expected) => {
      expect(await (await open({ says })).recognizer.recognize(UTTERANCE, never())).toBe(expected);
    });

    it.each(['', ' \n'])('has understood nothing when there is no text: %j', async (says) => {
      expect(await (await open({ says })).recognizer.recognize(UTTERANCE, never())).toBeUndefined();
    });

    it('takes 4096 bytes of text and not one more', async () => {
      expect(await (await open({ says: 'x'.repeat(4096) })).recognizer.recognize(UTTERANCE, never())).toHaveLength(4096);
      expect(await failureOf((await open({ says: 'x'.repeat(4097) })).recognizer.recognize(UTTERANCE, never()))).toContain('4096 bytes');
    });

    it.each(['fails', 'garbles'] as const)('fails when what understands the words %s, and repeats nothing of it', async (understanding) => {
      const { recognizer, clock } = await open(understanding);
      const asked = failureOf(recognizer.recognize(UTTERANCE, never()));
      await drive(clock, asked);
      await asked;
      expect(clock.pendingTimers).toBe(0);
    });

    it('keeps its time limit', async () => {
      const { recognizer, clock, reached } = await open('hangs');
      const asked = failureOf(recognizer.recognize(UTTERANCE, never()));
      await reached(1);
      await clock.advanceAsync(1000);
      expect(await asked).toContain('longer than 1000 ms');
      expect(clock.pendingTimers).toBe(0);
    });

    it('takes an abort for no failure, before it is asked and while it works', async () => {
      const { recognizer, clock, reached } = await open('hangs');
      const leaving = new AbortController();
      const left = recognizer.recognize(UTTERANCE, leaving.signal);
      await reached(1);
      leaving.abort('hang_up');
      expect(await left).toBeUndefined();
      expect(await recognizer.recognize(UTTERANCE, leaving.signal)).toBeUndefined();
      expect(clock.pendingTimers).toBe(0);
    });

    it('ends what is under way when it is closed, and takes nothing any more', async () => {
      const { recognizer, clock, reached } = await open('hangs');
      const asked = failureOf(recognizer.recognize(UTTERANCE, never()));
      await reached(1);
      await recognizer.close();
      expect(await asked).toContain('closed');
      expect(await failureOf(recognizer.recognize(UTTERANCE, never()))).toContain('closed');
      expect(clock.pendingTimers).toBe(0);
    });
  });
}

/** Lets short pauses pass until the work is over; a deadline of 1,000 ms is not reached by them. */
async function drive(clock: FakeClock, work: Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  const over = work.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    const nextMs = clock.nextTimerInMs;
    await clock.advanceAsync(nextMs !== undefined && nextMs <= 200 ? nextMs : 0);
  }
  await over;
}
