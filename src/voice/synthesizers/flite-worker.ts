// The thread that runs Flite: text pieces in, one µ-law prompt out. A thread, because a text takes tens to hundreds
// of ms of CPU. Knows nothing of queues, deadlines and caches.
import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import loadSpeex from '@echogarden/speex-resampler-wasm/simd';
import { LINE_RATE_HZ, MULAW_BYTES_PER_MS } from '../../speech/audio-format.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import { resampleAll, resamplerMaker, type CreateResampler, type SpeexModule } from '../../speech/resample.ts';
import { MAX_PROMPT_MS } from '../prompt-audio.ts';
import { FliteProgram } from './flite-program.ts';
import { levelled, trimmed } from './loudness.ts';
import { withPresence } from './presence.ts';
import type { SpokenText, ThreadAnswer, ThreadRequest } from './synthesis-thread.ts';

/** Silence added between two pieces of a text, ms; with the silence at the ends of the pieces a quarter of a second. */
const JOIN_MS = 100;

export interface FliteWorkerData {
  /** Path of flite.wasm. */
  readonly wasmFile: string;
  /** Gain by voice, dB; see {@link withPresence}. */
  readonly presenceDb: Readonly<Record<string, number>>;
}

const { wasmFile, presenceDb } = workerData as FliteWorkerData; // Set by flite.ts.
// The file's bytes are not kept in a variable: the compiled program has its own copy of these 21 MB.
const program = new FliteProgram(await readFile(wasmFile));
const speex = await loadSpeex();
// The package has no types; the main thread checks the same module when it loads its own copy.
const createResampler: CreateResampler = resamplerMaker(speex as SpeexModule);

parentPort?.on('message', (request: ThreadRequest) => {
  const { id } = request;
  try {
    const mulaw = spoken(request);
    answer({ kind: 'spoken', id, mulaw }, [mulaw.buffer]);
  } catch (thrown) {
    answer({ kind: 'failed', id, reason: thrown instanceof Error ? thrown.message : 'unknown' });
  }
});

function answer(message: ThreadAnswer, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved);
}

function spoken({ pieces, voice }: SpokenText): Uint8Array<ArrayBuffer> {
  const sounds = pieces.map((piece) => {
    const { samples, sampleRateHz } = program.speak(piece, voice);
    return trimmed(withPresence(resampleAll(createResampler, samples, sampleRateHz, LINE_RATE_HZ), presenceDb[voice] ?? 0));
  });
  const joined = levelled(joinedWithPauses(sounds));
  if (joined.length === 0) throw new Error('flite made no sound of the text');
  if (joined.length > MAX_PROMPT_MS * MULAW_BYTES_PER_MS) throw new Error('the speech would be longer than five minutes');
  const mulaw = new Uint8Array(joined.length);
  encodeMulaw(joined, mulaw);
  return mulaw;
}

function joinedWithPauses(sounds: readonly Int16Array[]): Int16Array {
  const pause = JOIN_MS * MULAW_BYTES_PER_MS;
  const joined = new Int16Array(sounds.reduce((sum, sound) => sum + sound.length, 0) + pause * Math.max(0, sounds.length - 1));
  let at = 0;
  for (const sound of sounds) {
    joined.set(sound, at);
    at += sound.length + pause;
  }
  return joined;
}
