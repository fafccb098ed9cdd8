// Whether a known prompt was heard, sample by sample, in the replies of a call that keeps their sound. Knows no call.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { decodeMulaw, encodeMulaw } from '../../speech/g711.ts';
import type { Reply } from './turn.ts';

/** Samples below this value, 42 dB under full scale, are inaudible on a phone. */
const QUIET_BELOW = 256;
/** How much of a known prompt must match for it to count as begun, samples: 20 ms, at most one frame. */
const ANCHOR_SAMPLES = 160;

/** Why a known prompt was not heard as expected, and on which RPC. */
export interface SoundFault {
  readonly found: string;
  readonly turn?: number;
}

/**
 * What is wrong with a known prompt in the replies; undefined when one of them contains all of it. The prompt and the replies
 * are compared after µ-law quantization, as a phone plays them: a server may send finer samples.
 *
 * @param known - 8 kHz.
 */
export function soundFault(replies: readonly Reply[], known: Int16Array): SoundFault | undefined {
  const wanted = onThePhone(known);
  let fault: SoundFault | undefined;
  for (const { sound, kind, turn } of replies) {
    const heard = onThePhone(joined(sound?.pieces ?? []));
    const at = findSound(heard, wanted);
    if (at === undefined) continue;
    const differsAt = wanted.findIndex((sample, index) => sample !== heard[at + index]);
    if (differsAt === -1) return undefined;
    const where = `${msText(differsAt)} into it`;
    fault ??= { found: `the reply to ${kind} (#${String(turn)}) begins with it and differs from ${where} on`, turn };
  }
  return fault ?? { found: 'no reply begins to sound like it' };
}

function onThePhone(samples: Int16Array): Int16Array {
  return decodeMulaw(encodeMulaw(samples));
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function msText(samples: number): string {
  return `${String(Math.round(samples / (LINE_RATE_HZ / 1000)))} ms`;
}

/**
 * The index in `heard` at which a known sound begins; undefined when it does not occur. Only the 20 ms from the first loud sample
 * of the sound must match, so that a sound which breaks off later is found, too.
 */
function findSound(heard: Int16Array, known: Int16Array): number | undefined {
  const loud = known.findIndex((sample) => Math.abs(sample) >= QUIET_BELOW);
  if (loud === -1) return undefined;
  const [all, anchor] = [bytesOf(heard), bytesOf(known.subarray(loud, loud + ANCHOR_SAMPLES))];
  const size = Int16Array.BYTES_PER_ELEMENT;
  // The quiet samples before the anchor need room in `heard`; a match must begin at the first byte of a sample.
  let at = all.indexOf(anchor, loud * size);
  while (at !== -1 && at % size !== 0) at = all.indexOf(anchor, at + 1);
  return at === -1 ? undefined : at / size - loud;
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
