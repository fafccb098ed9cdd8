// The part of a session that may travel between machines: plain JSON, read once when a turn begins and committed once
// when it ends.
import type { JsonValue } from '../base/json.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import type { Listen, Next, Prompt } from '../dialog/reply.ts';
import type { TranscriptLine } from './transcript.ts';

/** What is kept of a session between two turns. */
export interface SessionRecord {
  /** Counts commits; a commit names the version it started from. */
  readonly version: number;
  /** Names the commit where several processes share a store: one that is sent again, because its answer was lost, is known. */
  readonly writing?: string | undefined;
  readonly call: CallFacts;
  readonly bot: { readonly id: string; readonly version: number };
  /** The bot's own state; null after the end. */
  readonly state: JsonValue;
  readonly mode: DeliveryMode;
  /** False until the bot has answered the session's start. */
  readonly started: boolean;
  /** What the caller was last asked for. */
  readonly listen: Listen;
  /**
   * The last reply, for the case that another process has to say it; undefined when there is none, when no other process could,
   * or when it is too large to travel (a terminal one goes without its prompts then).
   */
  readonly reply?: KeptReply | undefined;
  /** Bot failures in a row; the second one transfers the caller. */
  readonly failures: number;
  /** How often in a row the caller did nothing. */
  readonly misses: number;
  /** Set once a sensitive input was asked for: from then on the bot's state does not lie open in a store (G-83). */
  readonly sensitive: boolean;
  /** The input that was answered last was a sensitive one; see {@link isSensitiveInput}. */
  readonly lastWasSensitive?: boolean;
  /** Who said what; empty when no transcript is kept. */
  readonly transcript: readonly TranscriptLine[];
  /** Turns that were answered so far. */
  readonly turns: number;
  /** Of the stream that was answered last among all of the call, where they are counted: a store that has lost the call counts on from there. */
  readonly place?: number;
  /** A terminal event is decided or was received; once it is told, further turns get no prompts (G-7C). */
  readonly ended: boolean;
  /** The bot was told of the end, and nothing is told to it any more. */
  readonly closed?: true;
  /** How often the conversation has begun anew (G-28), where several processes share a store; left out before the first time. */
  readonly restarts?: number;
}

/** A reply as a record holds it: recordings that a bot makes itself are in Base64. */
export interface KeptReply {
  readonly prompts: readonly KeptPrompt[];
  readonly next: Next;
}

/** One prompt of it. */
export type KeptPrompt =
  Exclude<Prompt, { readonly kind: 'audio' }> | { readonly kind: 'audio'; readonly mulawBase64: string; readonly bargeIn: boolean };

/** The record of a session that has just begun; version 0 means that it was never committed. */
export function firstRecord(session: {
  readonly call: CallFacts;
  readonly bot: { readonly id: string; readonly version: number };
  readonly mode: DeliveryMode;
  readonly restarts?: number;
}): SessionRecord {
  return {
    version: 0,
    call: session.call,
    bot: { id: session.bot.id, version: session.bot.version },
    state: null,
    mode: session.mode,
    started: false,
    listen: { kind: 'listen' },
    failures: 0,
    misses: 0,
    sensitive: false,
    transcript: [],
    turns: 0,
    ended: false,
    ...(session.restarts === undefined || session.restarts === 0 ? {} : { restarts: session.restarts }),
  };
}
