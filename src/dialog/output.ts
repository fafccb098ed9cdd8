// What a transport must deliver: the last form of a reply before it becomes bytes of a wire. Nothing here knows a
// wire; sizes and headers are the transport's business.
import type { JsonObject } from '../base/json.ts';
import type { FlowEvent, Listen } from './reply.ts';

/**
 * Prompt audio that is ready to be sent. The object is made once per prompt and shared by all calls that play it, so
 * a transport may remember the encoded bytes by its identity.
 */
export interface PromptAudio {
  /** G.711 µ-law, 8 kHz, mono, no header. Never changed after creation. */
  readonly mulaw: Uint8Array;
  readonly durationMs: number;
}

/** A prompt with its sound, or with text alone where no sound could be made. */
export interface SpokenPrompt {
  readonly audio: PromptAudio | undefined;
  /** What is said, when it is known; sent beside audio never (G-46), alone only when there is no audio. */
  readonly text: string | undefined;
  readonly bargeIn: boolean;
  /** What was heard of it before `audio` begins, ms; only on a prompt that goes on after it was cut. */
  readonly skippedMs?: number;
  /** A further piece of the prompt before it, whose text went with the first piece. */
  readonly goesOn?: true;
}

/** How the prompts of a call travel; chosen when the call starts and never changed (G-40). */
export type DeliveryMode = 'wav' | 'chunk';

/** What the platform collects with, every default filled in. */
export type ListenSettings = Required<Omit<Listen, 'kind' | 'event' | 'speech'>>;

/** What is left of the session for the platform to keep; counts on its last response only (G-7B). */
export interface Remains {
  readonly summary?: string | undefined;
  /** Who said what, one line each; undefined when no transcript is kept. */
  readonly transcript?: string | undefined;
}

/** What the platform gets at the end of a turn. */
export type FinalNext =
  | ({ readonly kind: 'listen'; readonly event?: FlowEvent | undefined } & ListenSettings)
  | ({ readonly kind: 'transfer'; readonly metadata: JsonObject } & Remains)
  | ({ readonly kind: 'end'; readonly metadata: JsonObject } & Remains)
  /** The turn gets no reply of its own, and what was listened for before still stands. */
  | ({ readonly kind: 'superseded' } & ListenSettings)
  /** The caller is gone; nothing more is wanted (G-75). */
  | { readonly kind: 'gone' };

/** One thing a transport must deliver. */
export type Output =
  /** The caller began to speak (G-36). */
  | { readonly kind: 'input_started' }
  /** The caller stopped speaking (G-38). */
  | { readonly kind: 'input_ended'; readonly mode: DeliveryMode }
  /** One prompt, ahead of the final; only in chunk mode. */
  | { readonly kind: 'prompt'; readonly prompt: SpokenPrompt & { readonly audio: PromptAudio } }
  /** The last message of a turn. In chunk mode its prompts carry no audio (G-43). */
  | {
      readonly kind: 'final';
      readonly mode: DeliveryMode;
      readonly prompts: readonly SpokenPrompt[];
      readonly next: FinalNext;
      /** Whether the prompts streamed ahead of it may be cut; left out when there were none. */
      readonly bargeIn?: boolean;
      /** The bot gave no reply: what is said is the server's own apology. Shown where prompt texts are. */
      readonly isApology?: true;
    };
