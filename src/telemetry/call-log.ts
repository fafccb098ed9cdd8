// The story of a call in the log: one JSON line per event, found again by the conversation id (P-02) and, per turn, by the
// platform's tracking id. Ids and durations only: what caller or bot said, keys, parameters and configuration texts never
// pass here (P-14).
import type { Clock } from '../base/clock.ts';
import { errorFields } from '../base/error-fields.ts';
import type { LogFields, Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionObserver } from '../session/ports.ts';

/** Refused calls and slow readers are written by those who refuse and wait, at a pace of their own. */
type CallLog = Required<Omit<SessionObserver, 'callRefused' | 'slowReader'>>;

/** Where the events go. */
interface CallLogOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** See {@link errorFields}. Default false. */
  readonly isDevelopment?: boolean;
}

/** An observer that writes every event to `log`. Between events it keeps the tracking ids of open turns and nothing else. */
export function createCallLog({ log, clock, isDevelopment = false }: CallLogOptions): CallLog {
  const trackingIds = new Map<string, string>();
  const ids = ({ conversationId, organizationId }: CallFacts): LogFields => ({ conversationId, organizationId });
  // A turn without a tracking id has none in its lines: fields that are undefined are not written.
  const turnIds = ({ conversationId, organizationId }: CallFacts, turnId: string): LogFields => ({
    conversationId,
    organizationId,
    turnId,
    trackingId: trackingIds.get(turnId),
  });
  return {
    sessionStarted(call, isContinued = false) {
      const event = isContinued ? 'session_continued' : 'session_started';
      log.info(
        { event, ...ids(call), agentId: call.agentId },
        isContinued ? 'a session of another server goes on here' : 'session started',
      );
    },
    sessionEnded(call, end) {
      const durationMs = clock.nowMs() - call.startedAtMs;
      log.info({ event: 'session_ended', ...ids(call), agentId: call.agentId, end, durationMs }, 'session ended');
    },
    turnStarted(call, turnId, trackingId) {
      if (trackingId !== undefined) trackingIds.set(turnId, trackingId);
      log.debug({ event: 'turn_started', ...turnIds(call, turnId) }, 'turn started');
    },
    inputStarted(call, turnId) {
      log.debug({ event: 'input_started', ...turnIds(call, turnId) }, 'caller began to speak');
    },
    inputEnded(call, turnId) {
      log.debug({ event: 'input_ended', ...turnIds(call, turnId) }, 'caller stopped speaking');
    },
    botAsked(call, turnId, botEvent) {
      log.debug({ event: 'bot_asked', ...turnIds(call, turnId), botEvent }, 'bot asked');
    },
    botAnswered(call, turnId, tookMs) {
      log.debug({ event: 'bot_answered', ...turnIds(call, turnId), tookMs: Math.round(tookMs) }, 'bot answered');
    },
    replyStarted(call, turnId, latencyMs) {
      log.info({ event: 'reply_started', ...turnIds(call, turnId), latencyMs: Math.round(latencyMs) }, 'reply started');
    },
    turnEnded(call, turnId, end) {
      log.info({ event: 'turn_ended', ...turnIds(call, turnId), end }, 'turn ended');
      trackingIds.delete(turnId);
    },
    bargeIn(call, turnId, by, heardMs) {
      log.info({ event: 'barge_in', ...turnIds(call, turnId), by, heardMs: Math.round(heardMs) }, 'caller interrupted the prompt');
    },
    promptResumed(call, turnId) {
      log.info({ event: 'prompt_resumed', ...turnIds(call, turnId) }, 'the prompt went on: what had cut it was no speech');
    },
    fillerSpoken(call, turnId) {
      log.info({ event: 'filler_spoken', ...turnIds(call, turnId) }, 'the caller heard that the bot is still thinking');
    },
    replyRepeated(call, turnId) {
      log.info({ event: 'reply_repeated', ...turnIds(call, turnId) }, 'a reply that the caller had not heard to its end was said again');
    },
    botFailed(call, turnId, error) {
      const thrown = errorFields(error.cause ?? error, isDevelopment);
      // The code of what was thrown, such as that of a connection, beside ours.
      const thrownCode = error.cause === undefined ? undefined : thrown['code'];
      const fields = { event: 'bot_failed', ...turnIds(call, turnId), agentId: call.agentId, ...thrown, thrownCode };
      log.warn({ ...fields, code: error.code }, 'bot failed');
    },
  };
}
