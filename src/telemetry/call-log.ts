// The story of a call in the log: one JSON line per event, found again by the conversation id (P-02). Ids and durations
// only: what caller or bot said, keys, parameters and configuration texts never pass here (P-14).
import type { Clock } from '../base/clock.ts';
import { errorFields, type Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionObserver } from '../session/ports.ts';

/** An observer that writes every event to `log`. It keeps nothing between events. */
export function createCallLog(options: { readonly log: Logger; readonly clock: Clock }): Required<SessionObserver> {
  const { log, clock } = options;
  const ids = (call: CallFacts): { readonly conversationId: string; readonly organizationId: string } => ({
    conversationId: call.conversationId,
    organizationId: call.organizationId,
  });
  return {
    sessionStarted(call) {
      log.info({ event: 'session_started', ...ids(call), agentId: call.agentId }, 'session started');
    },
    sessionEnded(call, end) {
      const durationMs = clock.nowMs() - call.startedAtMs;
      log.info({ event: 'session_ended', ...ids(call), agentId: call.agentId, end, durationMs }, 'session ended');
    },
    turnStarted(call, turnId) {
      log.debug({ event: 'turn_started', ...ids(call), turnId }, 'turn started');
    },
    replyStarted(call, turnId, latencyMs) {
      log.info({ event: 'reply_started', ...ids(call), turnId, latencyMs: Math.round(latencyMs) }, 'reply started');
    },
    turnEnded(call, turnId, end) {
      log.info({ event: 'turn_ended', ...ids(call), turnId, end }, 'turn ended');
    },
    bargeIn(call, turnId) {
      log.info({ event: 'barge_in', ...ids(call), turnId }, 'caller interrupted the prompt');
    },
    botFailed(call, turnId, error) {
      const fields = {
        event: 'bot_failed',
        ...ids(call),
        turnId,
        agentId: call.agentId,
        ...errorFields(error.cause ?? error),
        code: error.code,
      };
      log.warn(fields, 'bot failed');
    },
  };
}
