// Joins observers into one and isolates their failures: an error that an observer throws, now or later, goes no further.
import type { Logger } from '../base/log.ts';
import type { SessionObserver } from '../session/ports.ts';

type Member = keyof SessionObserver;

/** One observer that forwards every event in the given order. A failing observer is logged once per event type. */
export function combineObservers(observers: readonly SessionObserver[], log: Logger): Required<SessionObserver> {
  const reported = new Set<string>();
  const report = (index: number, member: Member, error: unknown): void => {
    const key = `${String(index)} ${member}`;
    if (reported.has(key)) return;
    reported.add(key);
    log.error({ observer: index, event: member, err: error }, 'an observer failed; its further failures at this event are not logged');
  };
  /** A member that forwards its event to all observers. */
  const passOn = <M extends Member>(member: M): Required<SessionObserver>[M] => {
    const notify = (...facts: readonly unknown[]): void => {
      for (const [index, observer] of observers.entries()) {
        try {
          const listener = observer[member];
          const result: unknown = listener === undefined ? undefined : Reflect.apply(listener, observer, facts);
          // An async function also fits the type `void`; its rejection would end the process.
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
    return notify;
  };
  return {
    callRefused: passOn('callRefused'),
    sessionStarted: passOn('sessionStarted'),
    sessionEnded: passOn('sessionEnded'),
    turnStarted: passOn('turnStarted'),
    replyStarted: passOn('replyStarted'),
    answerTimed: passOn('answerTimed'),
    turnEnded: passOn('turnEnded'),
    speechStarted: passOn('speechStarted'),
    speechEnded: passOn('speechEnded'),
    recognized: passOn('recognized'),
    wordsUnderstood: passOn('wordsUnderstood'),
    botAsked: passOn('botAsked'),
    botAnswered: passOn('botAnswered'),
    modelReported: passOn('modelReported'),
    bargeIn: passOn('bargeIn'),
    promptResumed: passOn('promptResumed'),
    fillerSpoken: passOn('fillerSpoken'),
    replyRepeated: passOn('replyRepeated'),
    slowReader: passOn('slowReader'),
    botFailed: passOn('botFailed'),
  };
}
