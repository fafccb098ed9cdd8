// Surroundings for tests of prompts: folders that vanish, a synthesizer under the test's control, and a resampler.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import loadSpeex from '@echogarden/speex-resampler-wasm/simd';
import { onTestFinished } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import { resamplerMaker, type CreateResampler, type SpeexModule } from '../../src/speech/resample.ts';
import type { Speech } from '../../src/dialog/reply.ts';
import type { Synthesizer } from '../../src/voice/synthesizer.ts';

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-voice-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A signal that never aborts. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** How often the event loop comes round until the work is over. */
export async function turnsDuring(work: unknown): Promise<number> {
  const state = { isOver: false };
  const over = Promise.resolve(work).finally(() => {
    state.isOver = true;
  });
  let turns = 0;
  for (; !state.isOver; turns += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  await over;
  return turns;
}

/** The real resampler. */
export async function realResampler(): Promise<CreateResampler> {
  return resamplerMaker((await loadSpeex()) as SpeexModule); // The package ships no types; its shape is what resample.ts tests.
}

/** Speaks every text as µ-law bytes made of it, when and if the test wants. */
export class FakeSynthesizer implements Synthesizer {
  /** From now on texts come in such pieces, µ-law bytes each, before the rest. */
  pieces: readonly number[] | undefined;
  /** Texts asked for, in order. */
  readonly asked: string[] = [];
  /** Texts whose askers gave up. */
  readonly abandoned: string[] = [];
  /** Bytes of each answer. */
  bytes = 800;
  isBroken = false;
  isClosed = false;
  #held: (() => void)[] | undefined;

  /** From now on nothing is answered until {@link release}. */
  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const answer of held) answer();
  }

  get speaksInPieces(): boolean {
    return this.pieces !== undefined;
  }

  async speak({ text }: Speech, signal: AbortSignal, onPiece?: (mulaw: Uint8Array) => void): Promise<Uint8Array> {
    this.asked.push(text);
    for (const bytes of this.pieces ?? []) onPiece?.(new Uint8Array(bytes).fill(text.charCodeAt(0)));
    signal.addEventListener('abort', () => this.abandoned.push(text), { once: true });
    await new Promise<void>((resolve) => {
      if (this.#held === undefined) resolve();
      else this.#held.push(resolve);
    });
    if (this.isBroken) throw new AppError('synthesis_failed', 'the fake is broken');
    return new Uint8Array(this.bytes).fill(text.charCodeAt(0));
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}
