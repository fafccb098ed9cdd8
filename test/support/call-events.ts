// Everything an observer of the engine can be told, once, in the order in which it happens.
import { AppError } from '../../src/base/errors.ts';
import type { CallFacts } from '../../src/dialog/call.ts';
import type { TurnReport } from '../../src/dialog/turn-report.ts';
import type { LoadSource } from '../../src/session/admission.ts';
import type { SessionObserver } from '../../src/session/ports.ts';

/** A process with nothing to do. */
export const CALM: LoadSource = { reading: () => ({ loopDelayMs: 0, rssBytes: 0, heapPercent: 0 }) };

/** The facts of a call. */
export function callFacts(facts: Partial<CallFacts> = {}): CallFacts {
  return { organizationId: 'org', conversationId: 'conv', agentId: 'echo', startedAtMs: 0, vendorConfig: '', parameters: {}, ...facts };
}

/** A turn of a model in which everything happened. */
export const REPORT: TurnReport = {
  ...{ firstTokenMs: 400, firstSentenceMs: 900, ms: 3000, tokensIn: 100, tokensOut: 20, model: 'small', isFallback: true },
  ...{ tools: [{ name: 'book', ms: 50, ok: true }], failures: ['late'], fallbacks: [], usedUp: 'rounds', isInterrupted: false },
};

/** What follows the call in the arguments of each event. */
type Facts = {
  readonly [M in keyof SessionObserver]-?: Required<SessionObserver>[M] extends (call: never, ...facts: infer F) => void ? F : never;
};

/** What happens in a call with one turn in which everything happens, in this order. */
export const EVENTS: Facts = {
  callRefused: ['total'],
  sessionStarted: [false],
  turnStarted: ['t', 'tracking', 'grpc'],
  speechStarted: ['t'],
  bargeIn: ['t', 'speech', 340],
  speechEnded: ['t', 800],
  recognized: ['t', 'words', 60],
  wordsUnderstood: ['t', 'my number is 4711'],
  promptResumed: ['t'],
  botAsked: ['t', 'speech_input'],
  fillerSpoken: ['t'],
  replyStarted: ['t', 12, 5],
  botAnswered: ['t', 11],
  modelReported: ['t', REPORT],
  botFailed: ['t', new AppError('bot_failed', 'x')],
  replyRepeated: ['t'],
  slowReader: ['t'],
  answerTimed: ['t', { endpointingMs: 800, recognitionMs: 1, botMs: 2, modelMs: 1, toolsMs: 1, synthesisMs: 5, engineMs: 2 }],
  turnEnded: ['t', 'failed'],
  sessionEnded: ['failed'],
};

/** Tells an observer of all of them; the turn may have another id. */
export function notifyAll(observer: SessionObserver, call: CallFacts, turnId = 't'): void {
  for (const [member, facts] of Object.entries(EVENTS)) {
    const listener: unknown = Reflect.get(observer, member);
    const given = facts.map((fact) => (fact === 't' ? turnId : fact));
    if (typeof listener === 'function') Reflect.apply(listener, observer, [call, ...given]);
  }
}
