import { describe, expect, it } from 'vitest';
import type { PromptAudio } from '../../../src/dialog/output.ts';
import { GrowingPrompt } from '../../../src/voice/growing-prompt.ts';
import { promptAudio } from '../../../src/voice/prompt-audio.ts';
import { never } from '../../support/voice.ts';

const piece = (bytes: number): PromptAudio => promptAudio(new Uint8Array(bytes));
const [ONE, TWO, THREE] = [piece(8), piece(16), piece(24)];

async function all(pieces: AsyncIterable<PromptAudio>): Promise<PromptAudio[]> {
  const taken: PromptAudio[] = [];
  for await (const audio of pieces) taken.push(audio);
  return taken;
}

const nobody = (): void => undefined;

describe('GrowingPrompt', () => {
  it('gives every reader all pieces, also those that came before it', async () => {
    const prompt = new GrowingPrompt();
    const early = all(prompt.read(never(), nobody));
    prompt.add(ONE);
    prompt.add(TWO);
    const late = all(prompt.read(never(), nobody));
    prompt.add(THREE);
    prompt.finish(piece(48));
    expect(await early).toEqual([ONE, TWO, THREE]);
    expect(await late).toEqual([ONE, TWO, THREE]);
    expect(await all(prompt.read(never(), nobody))).toEqual([ONE, TWO, THREE]);
  });

  it('gives a prompt that came without pieces as one', async () => {
    const prompt = new GrowingPrompt();
    prompt.finish(ONE);
    expect(await all(prompt.read(never(), nobody))).toEqual([ONE]);
    const silent = new GrowingPrompt();
    silent.finish(undefined);
    expect(await all(silent.read(never(), nobody))).toEqual([]);
  });

  it('throws what went wrong once, after the pieces that came', async () => {
    const prompt = new GrowingPrompt();
    prompt.add(ONE);
    const pieces = prompt.read(never(), nobody);
    prompt.fail(new Error('broke'));
    expect(await pieces.next()).toEqual({ done: false, value: ONE });
    await expect(pieces.next()).rejects.toThrow('broke');
    expect((await pieces.next()).done).toBe(true);
  });

  it('ends at once when the signal aborts, also while a piece is waited for', async () => {
    const prompt = new GrowingPrompt();
    const leaving = new AbortController();
    const pieces = prompt.read(leaving.signal, nobody);
    const waiting = pieces.next();
    leaving.abort('barge_in');
    expect((await waiting).done).toBe(true);
    prompt.add(ONE);
    expect((await pieces.next()).done).toBe(true);
  });

  it('ends at once when the reader leaves, and says so', async () => {
    const prompt = new GrowingPrompt();
    let left = 0;
    const pieces = prompt.read(never(), () => {
      left += 1;
    });
    const other = prompt.read(never(), nobody);
    const [waiting, othersWaiting] = [pieces.next(), other.next()];
    await pieces.return?.();
    expect([(await waiting).done, left]).toEqual([true, 1]);
    prompt.add(ONE);
    expect(await othersWaiting).toEqual({ done: false, value: ONE });
    expect((await pieces.next()).done).toBe(true);
  });
});
