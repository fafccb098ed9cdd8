// The snapshot of a call: plain JSON from which another process can go on. A session keeps the newest one and saves
// it to the directory once per answer.
import { AppError } from '../../base/errors.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Wake } from '../../bot/wakes.ts';
import type { CallFacts } from '../../dialog/call.ts';
import type { DeliveryMode } from '../../dialog/output.ts';
import type { Listen, Next, Prompt } from '../../dialog/reply.ts';
import type { TranscriptLine } from '../answer/transcript.ts';
import type { PlayedReply } from '../playout/playout.ts';

/** Version of the format; a snapshot with a larger number cannot be restored. */
export const SNAPSHOT_FORM = 1;

/** One call between two turns. */
export interface Snapshot {
  readonly form: typeof SNAPSHOT_FORM;
  readonly call: CallFacts;
  readonly bot: { readonly id: string; readonly version: number };
  /** The bot's state; null after the end of the call. */
  readonly state: JsonValue;
  readonly mode: DeliveryMode;
  /** False until the bot has answered the start of the session. */
  readonly started: boolean;
  /** The last listen of the bot. */
  readonly listen: Listen;
  /**
   * The last reply, in case its turn comes again at the next home. Undefined when there is none, when no other process
   * could go on, or when the reply is too large (a terminal one is then saved without its prompts).
   */
  readonly reply?: SavedReply | undefined;
  /** Set when the last reply was on a forwarded turn: the turn's id. */
  readonly repliedTo?: string | undefined;
  /** Set when a reply was sent: what was playing when the snapshot was made. */
  readonly played?: PlayedReply | undefined;
  /** Bot failures in a row; the second one transfers the caller. */
  readonly failures: number;
  /** Number of inputs in a row without anything from the caller. */
  readonly misses: number;
  /** Set when the bot was woken during a silence that goes on: the silence so far, ms. */
  readonly silentMs?: number;
  /** Events that wait for the bot: see {@link LiveContext.wake}. */
  readonly wakes?: readonly Wake[];
  /** True once a sensitive input has been requested in this call (G-83). */
  readonly sensitive: boolean;
  /** Whether the last answered input was sensitive; see {@link isSensitiveInput}. */
  readonly lastWasSensitive?: boolean;
  /** Empty when no transcript is kept. */
  readonly transcript: readonly TranscriptLine[];
  /** Number of answered turns. */
  readonly turns: number;
  /** Whether a terminal event was decided; its farewell may still be undelivered (G-7C). */
  readonly ended: boolean;
}

/**
 * A snapshot of another home. The JSON was sealed by a server, so it is trusted to have this type.
 *
 * @throws AppError `state_unreadable` for an unknown format version.
 */
export function readSnapshot(json: JsonObject): Snapshot {
  if (json['form'] !== SNAPSHOT_FORM || typeof json['call'] !== 'object') {
    throw new AppError('state_unreadable', 'the snapshot of a call has a format that this version of the server does not know');
  }
  return json as unknown as Snapshot;
}

/** A reply in a snapshot: ready audio is in Base64. */
export interface SavedReply {
  readonly prompts: readonly SavedPrompt[];
  readonly next: Next;
}

/** A prompt of a {@link SavedReply}. */
export type SavedPrompt =
  | Exclude<Prompt, { readonly kind: 'audio' }>
  | { readonly kind: 'audio'; readonly mulawBase64: string; readonly bargeIn: boolean };

/** The snapshot of a new session. */
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
