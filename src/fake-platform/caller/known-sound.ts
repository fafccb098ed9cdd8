// Whether a known prompt was heard, sample by sample, in the replies of a call that keeps their sound. Knows no call.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { decodeMulaw, encodeMulaw } from '../../speech/g711.ts';
import { findSound, soundDifference } from './sound-check.ts';
import type { Reply } from './turn.ts';

/** Why a known prompt was not heard as it should be, and on which RPC it was looked at. */
export interface SoundFault {
  readonly found: string;
  readonly turn?: number;
}

/**
 * What is wrong with a known prompt in the replies; undefined when one of them has all of it. Both are compared as a phone
 * plays them, in the steps of µ-law, because a server may send finer ones.
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
    const difference = soundDifference(heard.subarray(at, at + wanted.length), wanted);
    if (difference === undefined) return undefined;
    const where = `${msText(difference.firstDifference)} into it`;
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
