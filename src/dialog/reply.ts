// What a bot decided: prompts and exactly one next step. Plain data; how it sounds and travels is decided elsewhere.
import type { JsonObject } from '../base/json.ts';
import type { SpeechPatience } from '../speech/patience.ts';

/** Something the caller hears. */
export type Prompt = (
  | // Text for the synthesizer.
    (Speech & { readonly kind: 'text' })
  /** A recorded WAV file of the prompts folder. */
  | { readonly kind: 'file'; readonly file: string }
  /** Ready audio: G.711 µ-law, 8 kHz, mono, no header. */
  | { readonly kind: 'audio'; readonly mulaw: Uint8Array }
) & {
  readonly bargeIn: boolean;
  readonly ifSilentMs?: number;
};

/** Most digits of one input, keyed or spoken: no number that people give on a telephone is longer (an IBAN has 34 places). */
export const MAX_DIGITS = 64;

/** Keys that can end a collection of digits. */
export type TerminatorKey = '#' | '*' | 'none';

/** Who speaks a text, and in which language. */
export interface VoiceChoice {
  /** As the operator's synthesizer names it. */
  readonly voice?: string;
  /** BCP 47: `es`, `es-MX`. */
  readonly language?: string;
}

/** A text as it is spoken. */
export interface Speech extends VoiceChoice {
  /** The words, without any tags. */
  readonly text: string;
  /** The same as SSML, for synthesizers that take it. */
  readonly ssml?: string;
  /** False: the sound is never kept. Default true. */
  readonly cache?: boolean;
}

/** Times are ms; the operator's settings are the defaults. */
export interface Listen {
  readonly kind: 'listen';
  /** What the caller may use next; default both. */
  readonly accept?: 'speech' | 'keys' | 'both';
  /** How many to collect before the bot gets them, 1 to 64. */
  readonly digits?: number;
  /** Longest pause between two keys, ms. */
  readonly interDigitMs?: number;
  /** Ends the collection early; no part of the digits. */
  readonly terminator?: TerminatorKey;
  /** Silence after which the platform reports no input, ms; 0: never (G-82). */
  readonly noInputMs?: number;
  /**
   * Silence after which `woken` is asked, ms: 100 to 3,600,000, and less than `noInputMs`. When the bot then says nothing, the time of
   * `noInputMs` goes on. On a WebSocket the platform may report later.
   */
  readonly wakeMs?: number;
  /**
   * The next input is a card number, a PIN or the like: kept out of logs, snapshots and recordings (G-83). From here on the transcript
   * leaves out what the bot says. A copy in the bot's state or in the `fields` of a transfer is not removed.
   */
  readonly sensitive?: boolean;
  /** What the caller speaks, BCP 47. Default: the bot's language. */
  readonly language?: string;
  /** Words that are likely to be said, for the recognizer. 50 at most. */
  readonly hints?: readonly string[];
  /** Default: the bot's setting, then the operator's. */
  readonly speech?: Partial<SpeechPatience>;
  /** For the platform's flow, sent with this reply (G-73). */
  readonly event?: FlowEvent;
}

/** An event for the platform's flow (G-73). */
export interface FlowEvent {
  readonly name: string;
  readonly metadata?: JsonObject;
}

/** A transfer to a person. */
export interface Transfer {
  readonly kind: 'transfer';
  /** Why, in a few words; for reports. */
  readonly reason: string;
  /** Text shown to the human agent (G-79). */
  readonly summary?: string;
  /** 1 to 64 ASCII characters: a letter, then letters, digits, `_` or `-` (G-79). */
  readonly routingHint?: string;
  /** What the bot has collected. */
  readonly fields?: JsonObject;
}

/** The end of the call. */
export interface End {
  readonly kind: 'end';
  /** How the call went, in a word or two; for reports. */
  readonly outcome: string;
  /** What the call was about; the platform keeps it as the session's summary (G-7B). */
  readonly summary?: string;
}

/** What happens after the prompts. */
export type Next = Listen | Transfer | End;

/** A complete reply to one input. */
export interface Reply {
  readonly prompts: readonly Prompt[];
  readonly next: Next;
}
