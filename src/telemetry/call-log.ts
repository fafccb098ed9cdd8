// The events of a call in the log: one JSON line per event, with the conversation id (P-02) and, per turn, the
// platform's tracking id. Ids and durations only; never speech, keys, parameters or configuration texts (P-14).
import type { Clock } from '../base/clock.ts';
import { errorFields } from '../base/error-fields.ts';
import type { LogFields, Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionObserver } from '../session/ports.ts';

/** Not here: refused calls and slow readers (logged elsewhere, rate-limited), models (logged by the bot), recognition (an answer part). */
type CallLog = Required<Omit<SessionObserver, 'callRefused' | 'slowReader' | 'modelReported' | 'recognized' | 'wordsUnderstood'>>;

interface CallLogOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** See {@link errorFields}. Default false. */
  readonly isDevelopment?: boolean;
}

/** An observer that logs every event. Between events it keeps only the tracking ids of open turns. */
export function createCallLog({ log, clock, isDevelopment = false }: CallLogOptions): CallLog {
  const trackingIds = new Map<string, string>();
  const ids = ({ conversationId, organizationId }: CallFacts): LogFields => ({ conversationId, organizationId });
  // Undefined fields are not written.
  const turnIds = ({ conversationId, organizationId }: CallFacts, turnId: string): LogFields => ({
    conversationId,
    organizationId,
    turnId,
    trackingId: trackingIds.get(turnId),
  });
  return {
    sessionStarted(call, isContinued = false) {
      const event = isContinued ? 'session_continued' : 'session_started';
      log.info({ event, ...ids(call), agentId: call.agentId }, isContinued ? 'session taken over from another server' : 'session started');
    },
    sessionEnded(call, end) {
      const durationMs = clock.nowMs() - call.startedAtMs;
      log.info({ event: 'session_ended', ...ids(call), agentId: call.agentId, end, durationMs }, 'session ended');
    },
    turnStarted(call, turnId, trackingId) {
      if (trackingId !== undefined) trackingIds.set(turnId, trackingId);
      log.debug({ event: 'turn_started', ...turnIds(call, turnId) }, 'turn started');
    },
    speechStarted(call, turnId) {
      log.debug({ event: 'input_started', ...turnIds(call, turnId) }, 'caller began to speak');
    },
    speechEnded(call, turnId) {
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
    answerTimed(call, turnId, parts) {
      log.debug({ event: 'answer_parts', ...turnIds(call, turnId), ...parts }, 'where the time to the reply went');
    },
    turnEnded(call, turnId, end) {
      log.info({ event: 'turn_ended', ...turnIds(call, turnId), end }, 'turn ended');
      trackingIds.delete(turnId);
    },
    bargeIn(call, turnId, by, heardMs) {
      log.info({ event: 'barge_in', ...turnIds(call, turnId), by, heardMs: Math.round(heardMs) }, 'caller interrupted the prompt');
    },
    promptResumed(call, turnId) {
      log.info({ event: 'prompt_resumed', ...turnIds(call, turnId) }, 'the prompt resumed after a false interruption');
    },
    fillerSpoken(call, turnId) {
      log.info({ event: 'filler_spoken', ...turnIds(call, turnId) }, 'the filler was played');
    },
    replyRepeated(call, turnId) {
      log.info({ event: 'reply_repeated', ...turnIds(call, turnId) }, 'a reply that the caller had not fully heard was repeated');
    },
    botFailed(call, turnId, error) {
      const thrown = errorFields(error.cause ?? error, isDevelopment);
      // The code of the thrown error, for example of a connection.
      const thrownCode = error.cause === undefined ? undefined : thrown['code'];
      const fields = { event: 'bot_failed', ...turnIds(call, turnId), agentId: call.agentId, ...thrown, thrownCode };
      log.warn({ ...fields, code: error.code }, 'bot failed');
    },
  };
}
