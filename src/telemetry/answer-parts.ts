// Where the time to the first sound of a reply went, from the events of its turn. Walks backward from that sound and assigns each moment
// to what the engine waited for, so that the parts add up without overlap: sounds, back to the request of the prompt or the bot's answer,
// whichever was later; the handler, back to its call, split into tools, model and the bot's own code; the recognizer, back to the end of
// the input at most; the silence that ended the speech. The rest is the engine's, mostly waits behind earlier inputs. Work ahead of its
// need is no part: for a model asked, or words recognized, while the caller paused, only the time from the end of speech on counts.
// Fillers are no reply. Knows no call; keeps only the times of open turns.
import type { Clock } from '../base/clock.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { AnswerParts } from '../dialog/call-view.ts';
import type { TurnReport } from '../dialog/turn-report.ts';
import type { SessionObserver } from '../session/ports.ts';

/** One turn so far. Times are monotonic ms. */
interface TurnTimes {
  silenceMs: number;
  recognizerMs: number;
  askedAtMs?: number;
  answeredAtMs?: number;
  reports: TurnReport[];
  reply?: { readonly atMs: number; readonly latencyMs: number; readonly synthesisMs: number };
}

/**
 * An observer that reports the parts for every turn with a sound, when the turn ends: whole ms that add up.
 *
 * @param answerTimed - receives the parts; see {@link SessionObserver.answerTimed}.
 */
export function answerParts(
  clock: Pick<Clock, 'monotonicMs'>,
  answerTimed: (call: CallFacts, turnId: string, parts: AnswerParts) => void,
): SessionObserver {
  // By turn id; every turn ends, so the map holds only open ones.
  const turns = new Map<string, TurnTimes>();
  const note = (turnId: string, change: (turn: TurnTimes) => void): void => {
    const turn = turns.get(turnId);
    if (turn !== undefined) change(turn);
  };
  return {
    turnStarted(_call, turnId) {
      turns.set(turnId, { silenceMs: 0, recognizerMs: 0, reports: [] });
    },
    speechEnded(_call, turnId, silenceMs) {
      note(turnId, (turn) => (turn.silenceMs = silenceMs));
    },
    recognized(_call, turnId, _outcome, waitedMs) {
      note(turnId, (turn) => (turn.recognizerMs = waitedMs));
    },
    botAsked(_call, turnId) {
      note(turnId, (turn) => (turn.askedAtMs = clock.monotonicMs()));
    },
    modelReported(_call, turnId, report) {
      note(turnId, (turn) => turn.reports.push(report));
    },
    botAnswered(_call, turnId) {
      note(turnId, (turn) => (turn.answeredAtMs = clock.monotonicMs()));
    },
    replyStarted(_call, turnId, latencyMs, synthesisMs) {
      note(turnId, (turn) => (turn.reply = { atMs: clock.monotonicMs(), latencyMs, synthesisMs }));
    },
    turnEnded(call, turnId) {
      const turn = turns.get(turnId);
      turns.delete(turnId);
      const parts = turn && partsOf(turn);
      if (parts !== undefined) answerTimed(call, turnId, parts);
    },
  };
}

/**
 * The same parts, with the time on the wire, for a platform on the same machine.
 *
 * @param sentMs - when the first sound was sent, ms since the epoch.
 * @param arrivedMs - when its first byte arrived.
 */
export function withWire(parts: AnswerParts, sentMs: number, arrivedMs: number): AnswerParts {
  return { ...parts, wireMs: Math.max(0, arrivedMs - sentMs) };
}

function partsOf({ silenceMs, recognizerMs, askedAtMs, answeredAtMs, reports, reply }: TurnTimes): AnswerParts | undefined {
  if (reply === undefined) return undefined;
  let leftMs = Math.round(reply.latencyMs);
  const taken = (ms: number): number => {
    const part = Math.min(Math.max(0, Math.round(ms)), leftMs);
    leftMs -= part;
    return part;
  };
  const { atMs: soundAtMs } = reply;
  const isAnswered = answeredAtMs !== undefined && answeredAtMs <= soundAtMs;
  const synthesisMs = taken(Math.min(reply.synthesisMs, isAnswered ? soundAtMs - answeredAtMs : Infinity));
  const saidAtMs = isAnswered ? answeredAtMs : soundAtMs - synthesisMs;
  const handlerMs = askedAtMs === undefined ? 0 : taken(saidAtMs - askedAtMs);
  const toolsMs = Math.min(handlerMs, Math.round(summed(reports, (report) => toolsUntil(handlerMs, report))));
  const modelMs = Math.min(handlerMs - toolsMs, Math.round(summed(reports, ({ waitedMs = 0 }) => waitedMs)));
  const recognitionMs = taken(recognizerMs);
  const botMs = handlerMs - toolsMs - modelMs;
  return { endpointingMs: silenceMs, recognitionMs, botMs, modelMs, toolsMs, synthesisMs, engineMs: leftMs };
}

/** Time that the tools of a turn took within the first `untilMs` of its handler. */
function toolsUntil(untilMs: number, { tools }: TurnReport): number {
  return summed(tools, ({ atMs = Infinity, ms }) => Math.min(Math.max(0, untilMs - atMs), ms));
}

function summed<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0);
}
