// One call as the console, an exported page and `parley calls` show it, made from a recording or from a call that goes on.
// Plain JSON; types only.
import type { JsonValue } from '../base/json.ts';

/** One call as it is shown. Times are ms since the session began, unless said otherwise. */
export interface CallView {
  readonly form: 1;
  readonly call: ShownCall;
  readonly turns: readonly ShownTurn[];
  /** Everything that happened, in order. */
  readonly events: readonly ShownEvent[];
  readonly sound: { readonly caller?: ShownTrack; readonly bot?: ShownTrack };
  /** Set when the platform's side is known: the messages between platform and server. */
  readonly messages?: readonly ShownMessage[];
  /** Set during development: the server's log lines of this call. */
  readonly logs?: readonly ShownLog[];
}

export interface ShownCall {
  readonly conversationId: string;
  readonly organizationId: string;
  readonly agentId: string;
  /** The bot's state version. */
  readonly botVersion?: number;
  /** Version of this package. */
  readonly version?: string;
  readonly transport?: 'grpc' | 'websocket';
  /** ms since the epoch. */
  readonly startedAtMs: number;
  /** Duration so far, while the call goes on. */
  readonly durationMs: number;
  /** How the session ended; undefined while it goes on. */
  readonly end?: string;
}

/** One caller turn. */
export interface ShownTurn {
  readonly id: string;
  /** From 1. */
  readonly number: number;
  /** The platform's correlation id. */
  readonly trackingId?: string;
  readonly atMs: number;
  readonly endMs?: number;
  readonly input?: ShownInput;
  /** Interim results of the recognizer while the caller spoke. */
  readonly interim?: readonly { readonly atMs: number; readonly text: string }[];
  readonly prompts: readonly ShownPrompt[];
  /** The next step of the reply: `listen`, `transfer`, `end` or `superseded`, with what belongs to it. */
  readonly next?: { readonly kind: string; readonly detail?: string };
  /** When the first sound of the reply was sent. */
  readonly firstSoundMs?: number;
  /** Undefined when the turn got no sound. */
  readonly parts?: AnswerParts;
  readonly bargeIn?: ShownBargeIn;
  /** The bot's state before and after; undefined where it is sensitive or was not kept. */
  readonly state?: { readonly before: JsonValue; readonly after: JsonValue };
  readonly error?: ShownError;
  readonly end?: string;
}

export interface ShownInput {
  readonly kind: 'start' | 'speech' | 'keys' | 'no_input' | 'event';
  readonly atMs: number;
  /** When the input was complete: for speech, when the engine decided that it had ended. */
  readonly completeMs: number;
  /** When the caller's last sound came; speech only. */
  readonly lastSoundMs?: number;
  /** The words, keys or name of the event; undefined when it is not known. */
  readonly text?: string;
  /** The input was sensitive and is not kept. */
  readonly isWithheld?: boolean;
}

export interface ShownPrompt {
  readonly text?: string;
  readonly isWithheld?: boolean;
  /** When the first sound of the prompt was sent; its playout may start later. */
  readonly atMs: number;
  readonly startMs: number;
  /** End of what the caller heard of the prompt; equal to `startMs` when the caller heard nothing of it. */
  readonly endMs: number;
  /** Length of the part that was sent but not heard, because the caller interrupted; undefined when all was heard. */
  readonly unheardMs?: number;
  readonly mayBeCut: boolean;
  readonly isFiller?: boolean;
}

export interface ShownBargeIn {
  readonly atMs: number;
  readonly by: string;
  readonly heardMs: number;
  readonly heard?: string;
  readonly unheard?: string;
}

export interface ShownError {
  readonly code: string;
  readonly message: string;
  /** File and line of the bot. */
  readonly at?: string;
}

/** The parts of the time from the caller's last sound, or from the end of any other input, to the first sound of the reply, ms. */
export interface AnswerParts {
  /** From the caller's last sound to the decision that the speech has ended; 0 for other inputs. */
  readonly endpointingMs: number;
  /** Wait for the words after that decision. */
  readonly recognitionMs: number;
  /** The bot's own code, without the model and tools it waited for. */
  readonly botMs: number;
  readonly modelMs: number;
  readonly toolsMs: number;
  readonly synthesisMs: number;
  /** The rest of the server's time. */
  readonly engineMs: number;
  /** From the first byte sent to its arrival at the platform; only where the platform's side is known. */
  readonly wireMs?: number;
}
export const ANSWER_PARTS = [
  'endpointingMs',
  'recognitionMs',
  'botMs',
  'modelMs',
  'toolsMs',
  'synthesisMs',
  'engineMs',
  'wireMs',
] as const satisfies readonly (keyof AnswerParts)[];

/** One thing that happened. */
export interface ShownEvent {
  readonly atMs: number;
  /** {@link ShownTurn.number}; undefined for an event of the call. */
  readonly turn?: number;
  readonly from: 'caller' | 'platform' | 'server' | 'bot' | 'service';
  /** Name of the event, as in the log. */
  readonly event: string;
  readonly detail?: string;
  /** Duration of the event. */
  readonly ms?: number;
}

export interface ShownTrack {
  /** Loudest sample of each 20 ms, 0 to 255, as base64; from the start of the session. */
  readonly peaks: string;
  /** Address of the sound as WAV, mono, 8 kHz: relative, or `data:`; empty while there is none. */
  readonly href: string;
}

export interface ShownMessage {
  readonly atMs: number;
  readonly turn: number;
  readonly from: 'platform' | 'server';
  readonly name: string;
  readonly detail?: string;
  readonly bytes?: number;
  /** What the contract check says of the message. */
  readonly findings?: readonly { readonly code: string; readonly rule?: string; readonly message: string }[];
}

export interface ShownLog {
  readonly atMs: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
  readonly turn?: number;
}

/** Conditions of a search. A call must meet all of them. */
export interface CallSearch {
  readonly organizationId?: string;
  /** Prefix of the conversation id. */
  readonly conversationId?: string;
  /** Prefix of the platform's tracking id of any turn. */
  readonly trackingId?: string;
  /** How the call ended, or `open`. */
  readonly end?: string;
  /** Bounds of the call's start, ms since the epoch. */
  readonly fromMs?: number;
  readonly untilMs?: number;
}

/** The calls of one organization. */
export interface OrganizationCalls {
  readonly organizationId: string;
  readonly openCalls: number;
  /** Most open calls on all servers; 0: no limit. */
  readonly maxCalls: number;
  readonly begun: number;
  /** Sum over the calls that have ended, ms. */
  readonly durationMs: number;
  /** Number of ended calls, by how they ended; `bot_transfer`: the bot gave the caller to a person. */
  readonly ends: Readonly<Record<string, number>>;
  /** Number of refused calls, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}
