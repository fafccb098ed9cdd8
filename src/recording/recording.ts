// A recorded call in memory, whatever file it came from: the caller's input with its times, the bot's answers, and the sound of both
// sides. Sensitive content was removed before anything became a recording. Types only.
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { AudioEncoding, Input, TurnOpening } from '../dialog/input.ts';
import type { DeliveryMode, FinalNext } from '../dialog/output.ts';

/** One recorded call. Times are monotonic ms since the session began, with fractions. */
export interface Recording {
  readonly header: RecordingHeader;
  /** In order of time. */
  readonly events: readonly RecordedEvent[];
  /** The caller's frames one after the other, as received; silence in place of withheld ones. */
  readonly callerSound: Uint8Array;
  /** The sounds of prompts one after the other, each once: G.711 µ-law, 8 kHz. */
  readonly botSound: Uint8Array;
}

export interface RecordingHeader {
  readonly form: 1;
  /** Names the recording in the folder; safe in file names. */
  readonly id: string;
  /** Version of this package. */
  readonly version: string;
  readonly call: CallFacts;
  /** The bot's state version. */
  readonly botVersion: number;
  readonly transport: 'grpc' | 'websocket';
  readonly mode: DeliveryMode;
  readonly isTied: boolean;
  /** Settings of the server that influence a call, by their names in the configuration; never a secret. */
  readonly settings: JsonObject;
}

/** A range of one of the sounds, bytes. */
export interface SoundRange {
  readonly from: number;
  readonly bytes: number;
}

/** Content that was sensitive and is not kept. */
export interface Withheld {
  readonly withheld: true;
}

interface OfTurn {
  readonly atMs: number;
  readonly turn: string;
}

export type RecordedEvent =
  | (OfTurn & { readonly kind: 'turn_opened'; readonly opensWith: TurnOpening; readonly trackingId?: string })
  | (OfTurn & { readonly kind: 'input'; readonly input: RecordedInput })
  | (OfTurn & { readonly kind: 'audio'; readonly encoding?: AudioEncoding; readonly sampleRateHz?: number } & SoundRange)
  | (OfTurn & { readonly kind: 'half_closed' })
  | (OfTurn & { readonly kind: 'aborted'; readonly reason: string })
  /** Words recognized so far in an unfinished utterance. */
  | (OfTurn & { readonly kind: 'interim'; readonly text: string; readonly stable: string; readonly isWhole: boolean })
  /** The final words of an utterance; `tookMs`: time since the utterance was complete. */
  | (OfTurn & { readonly kind: 'words'; readonly text?: string | Withheld; readonly tookMs: number; readonly failure?: string })
  | (OfTurn & { readonly kind: 'output'; readonly output: RecordedOutput })
  /** The bot has answered: the state after its answer. */
  | (OfTurn & { readonly kind: 'state'; readonly state: JsonValue | Withheld })
  /** An answer of a model or a tool, in the order in which the bot asked; `key` identifies the question without its content. */
  | (OfTurn & {
      readonly kind: 'service';
      readonly service: 'model' | 'tool';
      readonly key: string;
      readonly tookMs: number;
      readonly answer: JsonValue | Withheld;
    })
  | (OfTurn & { readonly kind: 'turn_closed'; readonly end: string })
  /** A fact of the engine for people: see the members of `SessionObserver`. */
  | { readonly atMs: number; readonly turn?: string; readonly kind: 'fact'; readonly event: string; readonly details: JsonObject }
  | { readonly atMs: number; readonly kind: 'ended'; readonly end: string };

/** An input with everything but its audio. */
export type RecordedInput = Exclude<Input, { readonly kind: 'audio' }> | ({ readonly kind: 'dtmf'; readonly length: number } & Withheld);

export type RecordedOutput =
  | { readonly kind: 'input_started' | 'input_ended' }
  | { readonly kind: 'prompt'; readonly prompt: RecordedPrompt }
  | { readonly kind: 'final'; readonly prompts: readonly RecordedPrompt[]; readonly next: FinalNext; readonly isApology?: true };

/** A prompt as it was sent. */
export interface RecordedPrompt {
  readonly text?: string | Withheld;
  readonly sound?: SoundRange | Withheld;
  /** Length of the prompt's sound; also known when the sound is withheld. */
  readonly durationMs: number;
  readonly bargeIn: boolean;
  readonly isFiller?: true;
  readonly goesOn?: true;
  /** Set when the prompt was no text: the name of the file, or a digest of the sound. */
  readonly source?: string;
}
