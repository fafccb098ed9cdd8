// The thread in which Flite speaks: text pieces in, one µ-law prompt out. Runs outside the main thread because a text
// takes tens to hundreds of ms of solid work; knows nothing of queues, deadlines and caches.
import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import loadSpeex from '@echogarden/speex-resampler-wasm/simd';
import { LINE_RATE_HZ, MULAW_BYTES_PER_MS } from '../../speech/audio-format.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import { resampleAll, resamplerMaker, type CreateResampler, type SpeexModule } from '../../speech/resample.ts';
import { MAX_PROMPT_MS } from '../prompt-audio.ts';
import { FliteProgram } from './flite-program.ts';
import { levelled, trimmed } from './loudness.ts';
import type { ThreadAnswer, ThreadRequest } from './synthesis-thread.ts';

/** Added silence between two pieces of one text, ms; with the ends that are left on them a pause of a quarter second. */
const JOIN_MS = 100;

/** What the thread is started with. */
export interface FliteWorkerData {
  /** Path of flite.wasm. */
  readonly wasmFile: string;
  readonly voice: string;
}

const { wasmFile, voice } = workerData as FliteWorkerData; // Set by flite.ts, the only starter of this thread.
// The 21 MB that are read here are not kept under a name: the compiled program has its own copy.
const program = new FliteProgram(await readFile(wasmFile));
const speex = await loadSpeex();
// The package ships no types; the main program checks the same module when it loads its own copy.
const createResampler: CreateResampler = resamplerMaker(speex as SpeexModule);

parentPort?.on('message', (request: ThreadRequest) => {
  const { id, pieces } = request;
  try {
    const mulaw = spoken(pieces);
    // The bytes move instead of being copied.
    answer({ kind: 'spoken', id, mulaw }, [mulaw.buffer]);
  } catch (thrown) {
    answer({ kind: 'failed', id, reason: thrown instanceof Error ? thrown.message : 'unknown' });
  }
});

function answer(message: ThreadAnswer, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved);
}

function spoken(pieces: readonly string[]): Uint8Array<ArrayBuffer> {
  const sounds = pieces.map((piece) => {
    const { samples, sampleRateHz } = program.speak(piece, voice);
    return trimmed(resampleAll(createResampler, samples, sampleRateHz, LINE_RATE_HZ));
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
