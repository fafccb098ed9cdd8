// Everything an observer of the engine can be told, once, in the order in which it happens.
import { AppError } from '../../src/base/errors.ts';
import type { CallFacts } from '../../src/dialog/call.ts';
import type { LoadSource } from '../../src/session/admission.ts';
import type { SessionObserver } from '../../src/session/ports.ts';

/** A process with nothing to do. */
export const CALM: LoadSource = { reading: () => ({ loopDelayMs: 0, rssBytes: 0, heapPercent: 0 }) };

/** The facts of a call. */
export function callFacts(facts: Partial<CallFacts> = {}): CallFacts {
  return { organizationId: 'org', conversationId: 'conv', agentId: 'echo', startedAtMs: 0, vendorConfig: '', parameters: {}, ...facts };
}

/** Tells an observer of a call with one turn in which everything happens. */
export function notifyAll(observer: SessionObserver, call: CallFacts, turnId = 't'): void {
  observer.callRefused?.(call, 'total');
  observer.sessionStarted?.(call, false);
  observer.turnStarted?.(call, turnId, 'tracking');
  observer.inputStarted?.(call, turnId);
  observer.bargeIn?.(call, turnId, 'speech', 340);
  observer.inputEnded?.(call, turnId);
  observer.promptResumed?.(call, turnId);
  observer.botAsked?.(call, turnId, 'speech_input');
  observer.fillerSpoken?.(call, turnId);
  observer.replyStarted?.(call, turnId, 12);
  observer.botAnswered?.(call, turnId, 11);
  observer.botFailed?.(call, turnId, new AppError('bot_failed', 'x'));
  observer.replyRepeated?.(call, turnId);
  observer.slowReader?.(call, turnId);
  observer.turnEnded?.(call, turnId, 'failed');
  observer.sessionEnded?.(call, 'failed');
}
