// The sound of a recorded call as two tracks that begin with the session: what the caller said, and what the caller heard.
import { FALLBACK_FORMAT, FRAME_SAMPLES, LINE_RATE_HZ, MULAW_BYTES_PER_MS, nextFormat, type AudioFormat } from '../speech/audio-format.ts';
import { decodeAlaw, decodeMulaw } from '../speech/g711.ts';
import { playoutOf } from './playout.ts';
import type { Recording } from './recording.ts';

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;
/** Frames that come at most this much too early or too late join the previous one; a larger difference is a gap. */
const JITTER_MS = 200;

/** Linear samples, 8 kHz. Both have the same length. */
export interface Tracks {
  readonly caller: Int16Array;
  readonly bot: Int16Array;
}

/** The tracks of a call. */
export function tracksOf(recording: Recording): Tracks {
  const caller = new Track();
  putCaller(recording, caller);
  const bot = new Track();
  for (const { prompt, startMs, endMs } of playoutOf(recording).prompts) {
    const { sound } = prompt;
    if (sound === undefined || 'withheld' in sound) continue;
    const heard = recording.botSound.subarray(
      sound.from,
      sound.from + Math.min(sound.bytes, Math.round((endMs - startMs) * MULAW_BYTES_PER_MS)),
    );
    bot.put(Math.round(startMs * SAMPLES_PER_MS), decodeMulaw(heard));
  }
  const length = Math.max(caller.length, bot.length, Math.round((recording.events.at(-1)?.atMs ?? 0) * SAMPLES_PER_MS));
  return { caller: caller.samples(length), bot: bot.samples(length) };
}

function putCaller({ events, callerSound }: Recording, track: Track): void {
  let format: AudioFormat = FALLBACK_FORMAT;
  let end = 0;
  for (const event of events) {
    if (event.kind !== 'audio') continue;
    format = nextFormat(format, event);
    const samples = decoded(callerSound.subarray(event.from, event.from + event.bytes), format);
    // A frame arrives when its last sample has been spoken.
    const start = Math.max(0, Math.round(event.atMs * SAMPLES_PER_MS) - samples.length);
    const isGap = Math.abs(start - end) > JITTER_MS * SAMPLES_PER_MS;
    end = track.put(isGap ? start : end, samples);
  }
}

/** The samples of a frame, linear, 8 kHz. */
function decoded(bytes: Uint8Array, { encoding, sampleRateHz }: AudioFormat): Int16Array {
  const samples =
    encoding === 'mulaw'
      ? decodeMulaw(bytes)
      : encoding === 'alaw'
        ? decodeAlaw(bytes)
        : new Int16Array(Uint8Array.from(bytes.subarray(0, bytes.length & ~1)).buffer);
  if (sampleRateHz === LINE_RATE_HZ) return samples;
  return Int16Array.from({ length: samples.length >> 1 }, (_, index) => ((samples[2 * index] ?? 0) + (samples[2 * index + 1] ?? 0)) >> 1);
}

/** Grows with the samples that are put into it; the rest is silence. */
class Track {
  #samples = new Int16Array(LINE_RATE_HZ);
  length = 0;

  /** Puts samples at an index. @returns the index after the last one. */
  put(at: number, samples: Int16Array): number {
    const end = at + samples.length;
    if (end > this.#samples.length) {
      const larger = new Int16Array(2 * end);
      larger.set(this.#samples);
      this.#samples = larger;
    }
    this.#samples.set(samples, at);
    this.length = Math.max(this.length, end);
    return end;
  }

  samples(length: number): Int16Array {
    if (this.#samples.length >= length) return this.#samples.subarray(0, length);
    const larger = new Int16Array(length);
    larger.set(this.#samples);
    return larger;
  }
}

/** Loudest sample of each 20 ms, 0 to 255, as base64. */
export function peaksOf(samples: Int16Array): string {
  const peaks = Buffer.alloc(Math.ceil(samples.length / FRAME_SAMPLES));
  for (let frame = 0; frame < peaks.length; frame += 1) {
    let loudest = 0;
    const end = Math.min(samples.length, (frame + 1) * FRAME_SAMPLES);
    for (let at = frame * FRAME_SAMPLES; at < end; at += 1) loudest = Math.max(loudest, Math.abs(samples[at] ?? 0));
    peaks[frame] = Math.min(255, loudest >> 7);
  }
  return peaks.toString('base64');
}
