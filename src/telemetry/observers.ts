// Joins observers into one that nothing can break: what an observer throws, at once or later, stops here.
import type { Logger } from '../base/log.ts';
import type { SessionObserver } from '../session/ports.ts';

type Member = keyof SessionObserver;

/**
 * One observer that passes everything on, in the given order. An observer that fails is logged once per event, because
 * what fails once fails on every call.
 */
export function combineObservers(observers: readonly SessionObserver[], log: Logger): Required<SessionObserver> {
  const reported = new Set<string>();
  const report = (index: number, member: Member, error: unknown): void => {
    const key = `${String(index)} ${member}`;
    if (reported.has(key)) return;
    reported.add(key);
    log.error({ observer: index, event: member, err: error }, 'an observer failed; its further failures at this event are not logged');
  };
  const notify = (member: Member, call: (observer: SessionObserver) => unknown): void => {
    for (const [index, observer] of observers.entries()) {
      try {
        const result = call(observer);
        // The type says void, and an async function fits it all the same; its rejection would end the process.
        if (result instanceof Promise) {
          result.catch((error: unknown) => {
            report(index, member, error);
          });
        }
      } catch (error) {
        report(index, member, error);
      }
    }
  };
  return {
    callRefused(call, reason) {
      notify('callRefused', (observer) => observer.callRefused?.(call, reason));
    },
    sessionStarted(call, isContinued) {
      notify('sessionStarted', (observer) => observer.sessionStarted?.(call, isContinued));
    },
    sessionEnded(call, end) {
      notify('sessionEnded', (observer) => observer.sessionEnded?.(call, end));
    },
    turnStarted(call, turnId, trackingId) {
      notify('turnStarted', (observer) => observer.turnStarted?.(call, turnId, trackingId));
    },
    replyStarted(call, turnId, latencyMs) {
      notify('replyStarted', (observer) => observer.replyStarted?.(call, turnId, latencyMs));
    },
    turnEnded(call, turnId, end) {
      notify('turnEnded', (observer) => observer.turnEnded?.(call, turnId, end));
    },
    inputStarted(call, turnId) {
      notify('inputStarted', (observer) => observer.inputStarted?.(call, turnId));
    },
    inputEnded(call, turnId) {
      notify('inputEnded', (observer) => observer.inputEnded?.(call, turnId));
    },
    botAsked(call, turnId, event) {
      notify('botAsked', (observer) => observer.botAsked?.(call, turnId, event));
    },
    botAnswered(call, turnId, tookMs) {
      notify('botAnswered', (observer) => observer.botAnswered?.(call, turnId, tookMs));
    },
    bargeIn(call, turnId, by, heardMs) {
      notify('bargeIn', (observer) => observer.bargeIn?.(call, turnId, by, heardMs));
    },
    promptResumed(call, turnId) {
      notify('promptResumed', (observer) => observer.promptResumed?.(call, turnId));
    },
    fillerSpoken(call, turnId) {
      notify('fillerSpoken', (observer) => observer.fillerSpoken?.(call, turnId));
    },
    replyRepeated(call, turnId) {
      notify('replyRepeated', (observer) => observer.replyRepeated?.(call, turnId));
    },
    slowReader(call, turnId) {
      notify('slowReader', (observer) => observer.slowReader?.(call, turnId));
    },
    botFailed(call, turnId, error) {
      notify('botFailed', (observer) => observer.botFailed?.(call, turnId, error));
    },
  };
}
