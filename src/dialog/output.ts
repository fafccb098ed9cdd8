// What a transport must deliver: the last form of a reply before it becomes bytes. Knows no wire: sizes and headers belong to the
// transport.
import type { JsonObject } from '../base/json.ts';
import type { FlowEvent, Listen } from './reply.ts';

/**
 * Prompt audio that is ready to send. The object is made once per prompt and shared by all calls that play it, so
 * a transport may cache the encoded bytes by the identity of the object.
 */
export interface PromptAudio {
  /** G.711 µ-law, 8 kHz, mono, no header. Never changed after creation. */
  readonly mulaw: Uint8Array;
  readonly durationMs: number;
}

/** A prompt with audio, or with text alone where no audio could be made. */
export interface SpokenPrompt {
  readonly audio: PromptAudio | undefined;
  /** The spoken text, when it is known. Sent only in place of audio, never beside it (G-46). */
  readonly text: string | undefined;
  /** Set for a recording: its file in the prompts folder. */
  readonly file?: string;
  readonly bargeIn: boolean;
  /** Set on a prompt that continues after a cut: how much of it was heard before `audio` begins, ms. */
  readonly skippedMs?: number;
  /** Set on a prompt that the engine says while the bot takes its time: no part of a reply. */
  readonly isFiller?: true;
  /** Set when the synthesis broke off: `audio` has the beginning of `text` only. */
  readonly breaksOff?: true;
  /** Set on a further piece of the previous prompt; the text went with the first piece. */
  readonly goesOn?: true;
}

/** How the prompts of a call travel; chosen when the call starts and never changed (G-40). */
export type DeliveryMode = 'wav' | 'chunk';

/** How the platform collects digits, with all defaults. */
export type ListenSettings = Required<Omit<Listen, 'kind' | 'event' | 'speech' | 'language' | 'hints' | 'wakeMs'>>;

/** What the platform keeps of the session. The platform reads it only from the last response (G-7B). */
export interface Remains {
  readonly summary?: string | undefined;
  /** Who said what, one line each; undefined when no transcript is kept. */
  readonly transcript?: string | undefined;
}

/** The end of a turn for the platform. */
export type FinalNext =
  | ({ readonly kind: 'listen'; readonly event?: FlowEvent | undefined } & ListenSettings)
  | ({ readonly kind: 'transfer'; readonly metadata: JsonObject } & Remains)
  | ({ readonly kind: 'end'; readonly metadata: JsonObject } & Remains)
  /** The turn gets no reply of its own, and listening continues as before. */
  | ({ readonly kind: 'superseded' } & ListenSettings)
  /** The caller is gone; nothing more is wanted (G-75). */
  | { readonly kind: 'gone' };

/** One thing a transport must deliver. */
export type Output =
  /** The caller began to speak (G-36). */
  | { readonly kind: 'input_started' }
  /** The caller stopped speaking (G-38). */
  | {
      readonly kind: 'input_ended';
      readonly mode: DeliveryMode;
      /** Set when the bot wants the caller's words but the server has no recognizer. Shown where prompt texts are shown. */
      readonly isWithoutWords?: true;
    }
  /** One prompt before the final message; only in chunk mode. */
  | { readonly kind: 'prompt'; readonly prompt: SpokenPrompt & { readonly audio: PromptAudio } }
  /** The last message of a turn. In chunk mode its prompts carry no audio (G-43). */
  | {
      readonly kind: 'final';
      readonly mode: DeliveryMode;
      readonly prompts: readonly SpokenPrompt[];
      readonly next: FinalNext;
      /** Whether the caller may interrupt the prompts that were streamed before this message; undefined when there were none. */
      readonly bargeIn?: boolean;
      /** Set when the bot gave no reply: this is the server's apology. Shown where prompt texts are shown. */
      readonly isApology?: true;
    };
