// The operator's settings of the engine, compiled once at startup. Times are ms.
import type { SpeechPatience } from '../speech/patience.ts';
import type { Bot } from '../bot/bot.ts';
import type { Fillers } from '../bot/fillers.ts';
import { inLanguage } from '../dialog/languages.ts';
import type { Lines } from '../dialog/languages/language.ts';
import type { DeliveryMode, ListenSettings } from '../dialog/output.ts';

/** Silences that end an utterance, depending on the words before them. */
export interface WordSilences {
  /** Silence after which the recognizer is asked for the words so far. */
  readonly pauseMs: number;
  /** Silence after a complete sentence, or after all requested digits. */
  readonly finishedMs: number;
  /** Silence after a word that must be followed by others. */
  readonly unfinishedMs: number;
}

/** Settings of the engine; config/default.yaml explains the keys. */
export interface EngineSettings {
  /** Most sessions that may be open at once. */
  readonly maxSessions: number;
  /** A session without input for this long is ended (G-93). */
  readonly idleTimeoutMs: number;
  /** Longest life of a session (G-93). */
  readonly maxDurationMs: number;
  /** Pause between two sweeps for idle sessions. */
  readonly sweepMs: number;
  /** Largest state of a bot, and largest reply in a snapshot, bytes as JSON. */
  readonly maxStateBytes: number;
  /** Longest time of a bot for one reply. */
  readonly turnDeadlineMs: number;
  /** Longest wait for a client that does not read (G-91). */
  readonly slowReaderMs: number;
  /**
   * How far a handler may speak ahead of its caller. Beyond this the handler waits, or fails when nothing can be heard before the
   * final.
   */
  readonly maxAheadMs: number;
  /** Time that a bot takes for its reply before the caller hears a filler; 0: never. */
  readonly fillerAfterMs: number;
  /** Longest wait for the end of a farewell before a call is transferred or ended (G-7A). */
  readonly maxFarewellMs: number;
  /** Whether prompts resume that were cut by a sound without recognized words. */
  readonly resumesPrompts: boolean;
  /** Whether the platform gets a transcript with the last response (G-7B). */
  readonly keepsTranscript: boolean;
  /** Whether the log shows recognized texts; for a developer's own server. */
  readonly logsWords: boolean;
  /** The silences that end an utterance. */
  readonly patience: SpeechPatience;
  /** Silence that ends an input while digits are being read out. */
  readonly digitSilenceMs: number;
  /** Set when words are recognized while they are spoken: the silences that then end an utterance. */
  readonly words: WordSilences | undefined;
  /** The delivery mode (G-40). */
  readonly mode: DeliveryMode;
  /** Whether the caller may cut the welcome (G-27). */
  readonly welcomeBargeIn: boolean;
  /** Defaults of a bot's `listen`. */
  readonly listen: ListenSettings;
  /** The language of bots that name none, BCP 47. */
  readonly language: string;
  /** The engine's lines in this language, also used for languages without lines of their own. */
  readonly lines: Lines;
  /** The engine's lines in other languages, by tags in lower case. */
  readonly linesByLanguage: ReadonlyMap<string, Lines>;
}

/** The engine's lines for the callers of a bot. */
export function linesOf({ language, lines, linesByLanguage }: LineSettings, { speaks }: Pick<Bot, 'speaks'>): Lines {
  return inLanguage(linesByLanguage, speaks?.language ?? language) ?? lines;
}

/** The fillers for the callers of a bot: the bot's own, or else the operator's. */
export function fillersOf(settings: LineSettings & Pick<EngineSettings, 'fillerAfterMs'>, bot: Pick<Bot, 'speaks' | 'filler'>): Fillers {
  return bot.filler ?? { afterMs: settings.fillerAfterMs, say: [linesOf(settings, bot).filler] };
}

type LineSettings = Pick<EngineSettings, 'language' | 'lines' | 'linesByLanguage'>;
