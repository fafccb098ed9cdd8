// The operator's settings of the engine, compiled once at startup. Times are ms.
import type { SpeechPatience } from '../speech/patience.ts';
import type { Bot } from '../bot/bot.ts';
import type { Fillers } from '../bot/fillers.ts';
import { inLanguage } from '../dialog/languages.ts';
import type { Lines } from '../dialog/languages/language.ts';
import type { DeliveryMode, ListenSettings } from '../dialog/output.ts';

/** How long a pause may be, depending on the words before it. */
export interface WordSilences {
  /** Silence after which the words so far are asked for. */
  readonly pauseMs: number;
  /** After a whole sentence, or all digits that were asked for. */
  readonly finishedMs: number;
  /** After a word that asks for more. */
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
  /** Longest a bot may take for one reply. */
  readonly turnDeadlineMs: number;
  /** Longest wait for a client that does not read (G-91). */
  readonly slowReaderMs: number;
  /**
   * Most unheard speech of a handler; beyond it, the handler waits, or fails when nothing can be heard before the
   * final.
   */
  readonly maxAheadMs: number;
  /** Thinking time of a bot after which the caller hears `filler`; 0: never. */
  readonly fillerAfterMs: number;
  /** Longest wait for the end of a farewell before a call is transferred or ended (G-7A). */
  readonly maxFarewellMs: number;
  /** Whether prompts go on that were cut by a sound without recognized words. */
  readonly resumesPrompts: boolean;
  /** Whether the platform gets a transcript with the last response (G-7B). */
  readonly keepsTranscript: boolean;
  /** Whether the log shows recognized texts; for a developer's own server. */
  readonly logsWords: boolean;
  /** The silences that end an utterance. */
  readonly patience: SpeechPatience;
  /** Silence that ends an input while digits are being read out. */
  readonly digitSilenceMs: number;
  /** The silences that end an utterance whose words are known while it is spoken; undefined: they are not. */
  readonly words: WordSilences | undefined;
  /** The delivery mode (G-40). */
  readonly mode: DeliveryMode;
  /** Whether the caller may cut the welcome (G-27). */
  readonly welcomeBargeIn: boolean;
  /** Defaults of a bot's `listen`. */
  readonly listen: ListenSettings;
  /** The language of bots that name none, BCP 47. */
  readonly language: string;
  /** What the engine says in this language, and in those for which it has no lines. */
  readonly lines: Lines;
  /** What it says in other languages, by tags in lower case. */
  readonly linesByLanguage: ReadonlyMap<string, Lines>;
}

/** What the engine says to a bot's callers. */
export function linesOf({ language, lines, linesByLanguage }: LineSettings, { speaks }: Pick<Bot, 'speaks'>): Lines {
  return inLanguage(linesByLanguage, speaks?.language ?? language) ?? lines;
}

/** What a bot's callers hear while it takes its time: its own fillers, else the operator's. */
export function fillersOf(settings: LineSettings & Pick<EngineSettings, 'fillerAfterMs'>, bot: Pick<Bot, 'speaks' | 'filler'>): Fillers {
  return bot.filler ?? { afterMs: settings.fillerAfterMs, say: [linesOf(settings, bot).filler] };
}

type LineSettings = Pick<EngineSettings, 'language' | 'lines' | 'linesByLanguage'>;
