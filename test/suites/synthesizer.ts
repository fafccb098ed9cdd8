// What every synthesizer must do, whoever speaks.
import { describe, expect, it } from 'vitest';
import type { Synthesizer } from '../../src/voice/synthesizer.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { never } from '../support/voice.ts';
import { loudnessOf } from '../support/voice-sound.ts';

/** A synthesizer whose time limit is 1,000 ms on the fake clock. */
export interface OpenedSynthesizer {
  readonly synthesizer: Synthesizer;
  readonly clock: FakeClock;
}

const SENTENCE = 'Welcome. Please enter your four digit code now.';

async function failureOf(asked: Promise<unknown>): Promise<string> {
  const thrown: unknown = await asked.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(thrown).toMatchObject({ code: 'synthesis_failed' });
  const everything = JSON.stringify(thrown, Object.getOwnPropertyNames(thrown));
  expect(everything).not.toContain('CANARY');
  return everything;
}

/** @param open - opens one that speaks {@link SENTENCE} in two to five seconds. */
export function synthesizerSuite(name: string, open: () => Promise<OpenedSynthesizer>): void {
  describe(`${name}, like every synthesizer`, { timeout: 120_000 }, () => {
    it('speaks at the loudness of a telephone voice, never clipped, with a little silence at both ends', async () => {
      const { synthesizer, clock } = await open();
      const mulaw = await synthesizer.speak({ text: SENTENCE }, never());
      expect(mulaw.length / 8000).toBeGreaterThan(2);
      expect(mulaw.length / 8000).toBeLessThan(5);
      expect(loudnessOf(mulaw).peak).toBeLessThan(0.75);
      expect(loudnessOf(mulaw).rms).toBeGreaterThan(0.06);
      expect(loudnessOf(mulaw).rms).toBeLessThan(0.15);
      expect(loudnessOf(mulaw.subarray(0, 40 * 8)).rms).toBeLessThan(0.01);
      expect(loudnessOf(mulaw.subarray(-90 * 8)).rms).toBeLessThan(0.01);
      expect(loudnessOf(mulaw.subarray(50 * 8, 350 * 8)).rms).toBeGreaterThan(0.02);
      expect(clock.pendingTimers).toBeLessThanOrEqual(1);
    });

    it('gives pieces that are the whole together, or none', async () => {
      const { synthesizer } = await open();
      const pieces: Uint8Array[] = [];
      const whole = await synthesizer.speak({ text: SENTENCE }, never(), (piece) => pieces.push(piece));
      expect(pieces.length > 0).toBe(synthesizer.speaksInPieces);
      if (pieces.length > 0) expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    });

    it.each([
      ['nothing that can be spoken', '… !', 'no letter or digit'],
      ['more than 2,000 characters', `CANARY ${'a'.repeat(2000)}`, '2000 characters'],
    ])('refuses a text of %s without quoting it', async (_, text, reason) => {
      expect(await failureOf((await open()).synthesizer.speak({ text }, never()))).toContain(reason);
    });

    it('keeps its time limit', async () => {
      const { synthesizer, clock } = await open();
      const asked = failureOf(synthesizer.speak({ text: `${SENTENCE} CANARY` }, never()));
      await clock.advanceAsync(1000);
      expect(await asked).toMatch(/in time|longer than 1000 ms/u);
    });

    it('stops when nobody waits any more, before it is asked and while it works', async () => {
      const { synthesizer } = await open();
      const leaving = new AbortController();
      const asked = failureOf(synthesizer.speak({ text: SENTENCE }, leaving.signal));
      leaving.abort('hang_up');
      await asked;
      await failureOf(synthesizer.speak({ text: SENTENCE }, leaving.signal));
    });

    it('ends what is under way when it is closed, and takes nothing any more', async () => {
      const { synthesizer, clock } = await open();
      const asked = failureOf(synthesizer.speak({ text: SENTENCE }, never()));
      await synthesizer.close();
      expect(await asked).toContain('closed');
      expect(await failureOf(synthesizer.speak({ text: SENTENCE }, never()))).toContain('closed');
      expect(clock.pendingTimers).toBe(0);
    });
  });
}
