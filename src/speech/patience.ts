// How long the audio listener waits before a caller counts as speaking, pausing or done: the settings, their limits and their defaults.
// Knows no frames and no audio.
import { AppError } from '../base/errors.ts';

/** When the caller counts as speaking and as done, ms. A bot may change any of them for one listen. */
export interface SpeechPatience {
  /** Speech needed for a start, within twice this time: clicks and coughs are shorter. */
  readonly startMs: number;
  /** Speech needed for a start while a prompt plays: "mhm" and coughs are shorter and do not cut the prompt. */
  readonly interruptMs: number;
  /** Silence after which the end is suspected. */
  readonly endSilenceMs: number;
  /** Further silence after which the caller is done. 0: no end is suspected. */
  readonly resumeGraceMs: number;
  /** Longest utterance; speech after that is a new one. */
  readonly maxUtteranceMs: number;
  /** Audio kept from before the first speech. */
  readonly preRollMs: number;
}

/**
 * The defaults. Start, 100 ms: the platform's own gateway waits 96 (G-3A), and the shortest digits last 150. Silence,
 * 600 and 200 ms: the gateway waits 1000 and 1000, and read-out numbers pause for 300 to 700. Longest utterance, 30 s: the most
 * that the platform's kit allows.
 */
export const DEFAULT_PATIENCE = {
  startMs: 100,
  interruptMs: 400,
  endSilenceMs: 600,
  resumeGraceMs: 200,
  maxUtteranceMs: 30_000,
  preRollMs: 300,
} as const satisfies SpeechPatience;

/** Least and largest value of each setting, ms. */
export const PATIENCE_LIMITS = {
  startMs: [20, 1000],
  interruptMs: [20, 4000],
  endSilenceMs: [100, 10_000],
  resumeGraceMs: [0, 10_000],
  maxUtteranceMs: [1000, 120_000],
  preRollMs: [0, 2000],
} as const satisfies Record<keyof SpeechPatience, readonly [least: number, largest: number]>;

/** Least and largest silence that may end an utterance while digits are read out, ms. */
export const DIGIT_SILENCE_LIMITS: readonly [least: number, largest: number] = [
  PATIENCE_LIMITS.endSilenceMs[0],
  PATIENCE_LIMITS.endSilenceMs[1] + PATIENCE_LIMITS.resumeGraceMs[1],
];

/** Least and largest silence that ends an utterance whose words are known, ms. */
export const WORD_SILENCE_LIMITS: readonly [least: number, largest: number] = PATIENCE_LIMITS.endSilenceMs;

/**
 * The patience of `given`, with omitted members from `base`. Returns `current` itself when the result is equal, so that
 * nothing is allocated for a turn with the settings of the last one.
 *
 * @throws AppError `config_invalid` for a value outside {@link PATIENCE_LIMITS}.
 */
export function patienceFor(given: Partial<SpeechPatience>, base: SpeechPatience, current: SpeechPatience): SpeechPatience {
  const startMs = given.startMs ?? base.startMs;
  const interruptMs = given.interruptMs ?? base.interruptMs;
  const endSilenceMs = given.endSilenceMs ?? base.endSilenceMs;
  const resumeGraceMs = given.resumeGraceMs ?? base.resumeGraceMs;
  const maxUtteranceMs = given.maxUtteranceMs ?? base.maxUtteranceMs;
  const preRollMs = given.preRollMs ?? base.preRollMs;
  const isSame =
    startMs === current.startMs &&
    interruptMs === current.interruptMs &&
    endSilenceMs === current.endSilenceMs &&
    resumeGraceMs === current.resumeGraceMs &&
    maxUtteranceMs === current.maxUtteranceMs &&
    preRollMs === current.preRollMs;
  if (isSame) return current;
  return checkedPatience({ startMs, interruptMs, endSilenceMs, resumeGraceMs, maxUtteranceMs, preRollMs });
}

/**
 * Returns `patience` when every value lies within {@link PATIENCE_LIMITS}.
 *
 * @throws AppError `config_invalid` when one does not.
 */
export function checkedPatience(patience: SpeechPatience): SpeechPatience {
  demand('startMs', patience.startMs);
  demand('interruptMs', patience.interruptMs);
  demand('endSilenceMs', patience.endSilenceMs);
  demand('resumeGraceMs', patience.resumeGraceMs);
  demand('maxUtteranceMs', patience.maxUtteranceMs);
  demand('preRollMs', patience.preRollMs);
  return patience;
}

/**
 * The argument for {@link Listener.expect} while digits are read out: callers pause between groups of digits. The whole silence
 * is then `digitSilenceMs`; the grace at its end does not change, so that the end is suspected late and once. A patience with a longer
 * silence is returned unchanged.
 */
export function digitPatience(digitSilenceMs: number, own: SpeechPatience): Partial<SpeechPatience> {
  const { resumeGraceMs } = own;
  if (own.endSilenceMs + resumeGraceMs >= digitSilenceMs) return { endSilenceMs: own.endSilenceMs, resumeGraceMs };
  const [least, largest] = PATIENCE_LIMITS.endSilenceMs;
  const endSilenceMs = Math.min(largest, Math.max(least, digitSilenceMs - resumeGraceMs));
  return { endSilenceMs, resumeGraceMs: digitSilenceMs - endSilenceMs };
}

/** The same silence in all, but suspected to be the end after `pauseMs`: then the words can show whether it is. */
export function pausingAfter(pauseMs: number, { endSilenceMs, resumeGraceMs }: SpeechPatience): Partial<SpeechPatience> {
  if (pauseMs >= endSilenceMs) return {};
  const silenceMs = endSilenceMs + resumeGraceMs;
  const longestGraceMs = PATIENCE_LIMITS.resumeGraceMs[1];
  const suspectMs = Math.max(pauseMs, silenceMs - longestGraceMs);
  return { endSilenceMs: suspectMs, resumeGraceMs: silenceMs - suspectMs };
}

function demand(name: keyof SpeechPatience, ms: number): void {
  const [least, largest] = PATIENCE_LIMITS[name];
  if (ms >= least && ms <= largest) return;
  throw new AppError('config_invalid', `${name} is ${String(ms)}; it must lie between ${String(least)} and ${String(largest)} ms`);
}
