// What survives the home of a call: plain JSON from which another process can go on. A session holds the newest one and replaces
// it with every answer; it is written to the directory once per answer.
import { AppError } from '../../base/errors.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { CallFacts } from '../../dialog/call.ts';
import type { DeliveryMode } from '../../dialog/output.ts';
import type { Listen, Next, Prompt } from '../../dialog/reply.ts';
import type { TranscriptLine } from '../answer/transcript.ts';
import type { PlayedReply } from '../playout/playout.ts';

/** The form that this version of the server writes; one with a larger number is not restored here. */
export const SNAPSHOT_FORM = 1;

/** One call between two turns. */
export interface Snapshot {
  readonly form: typeof SNAPSHOT_FORM;
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
   * The last reply, for the case that its turn comes to the next home; undefined when there is none or no other process could go on,
   * or when it is too large to travel (a terminal one goes without its prompts then).
   */
  readonly reply?: KeptReply | undefined;
  /** The forwarded turn that the last reply answers. */
  readonly repliedTo?: string | undefined;
  /** What was being heard when the snapshot was made. */
  readonly played?: PlayedReply | undefined;
  /** Bot failures in a row; the second one transfers the caller. */
  readonly failures: number;
  /** How often in a row the caller did nothing. */
  readonly misses: number;
  /** Set once a sensitive input was asked for (G-83). */
  readonly sensitive: boolean;
  /** The input that was answered last was a sensitive one; see {@link isSensitiveInput}. */
  readonly lastWasSensitive?: boolean;
  /** Who said what; empty when no transcript is kept. */
  readonly transcript: readonly TranscriptLine[];
  /** Turns that were answered so far. */
  readonly turns: number;
  /** A terminal event is decided: only its farewell is still to be delivered (G-7C). */
  readonly ended: boolean;
}

/**
 * A snapshot that another home has saved. Only homes write there, and what they write is sealed: its JSON form parses back to it.
 *
 * @throws AppError `state_unreadable` for a form that this version of the server does not know.
 */
export function readSnapshot(json: JsonObject): Snapshot {
  if (json['form'] !== SNAPSHOT_FORM || typeof json['call'] !== 'object') {
    throw new AppError('state_unreadable', 'a call was left by a server of another version, in a form that is not known here');
  }
  return json as unknown as Snapshot;
}

/** A reply as a snapshot holds it: recordings that a bot makes itself are in Base64. */
export interface KeptReply {
  readonly prompts: readonly KeptPrompt[];
  readonly next: Next;
}

/** One prompt of it. */
export type KeptPrompt =
  Exclude<Prompt, { readonly kind: 'audio' }> | { readonly kind: 'audio'; readonly mulawBase64: string; readonly bargeIn: boolean };

/** The snapshot of a session that has just begun. */
export function firstSnapshot(session: {
  readonly call: CallFacts;
  readonly bot: { readonly id: string; readonly version: number };
  readonly mode: DeliveryMode;
}): Snapshot {
  return {
    form: SNAPSHOT_FORM,
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
  };
}
