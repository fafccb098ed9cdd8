// A timeline in the form in which calls are shown: what happened when, without a word of what was said.
import type { AnswerParts, CallView, ShownEvent, ShownInput, ShownTurn } from '../dialog/call-view.ts';
import type { CallTimeline, TimelineFact } from './call-timeline.ts';

/** Who caused an event; all others come from the server. */
const ACTORS: Readonly<Record<string, ShownEvent['from']>> = {
  turn_started: 'platform',
  input_started: 'caller',
  barge_in: 'caller',
  bot_asked: 'server',
  bot_answered: 'bot',
  bot_failed: 'bot',
};

/** The event with the parts of the time to a reply. */
const PARTS = 'answer_parts';
/** The kind of the caller's input, by the event that the bot was asked about. */
const INPUTS: Readonly<Record<string, ShownInput['kind']>> = { session_start: 'start', dtmf_input: 'keys', no_input: 'no_input' };

/**
 * The view of a call whose timeline is all that is known.
 *
 * @param nowMs - ms since the epoch; a call that goes on is shown up to then.
 */
export function timelineView({ facts, leftOut: _, ...call }: CallTimeline, nowMs: number): CallView {
  const { end, startedAtMs, ...ids } = call;
  const durationMs = end === undefined ? Math.max(0, nowMs - startedAtMs) : (facts.at(-1)?.atMs ?? 0);
  const numbers = turnNumbers(facts);
  return {
    form: 1,
    call: { ...ids, startedAtMs, durationMs, ...(end !== undefined && { end }) },
    turns: [...numbers].map(([id, number]) =>
      shownTurn(
        id,
        number,
        facts.filter((fact) => fact.turnId === id),
      ),
    ),
    events: facts.flatMap((fact) => (fact.event === PARTS ? [] : shownEvent(fact, numbers))),
    sound: {},
  };
}

/** Turn numbers by turn id. Taken from the end of each id, because the first facts of a long call are dropped. */
function turnNumbers(facts: readonly TimelineFact[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const { turnId } of facts) {
    if (turnId === undefined || numbers.has(turnId)) continue;
    const number = Number(/#(?<number>\d+)$/u.exec(turnId)?.groups?.['number'] ?? numbers.size + 1);
    numbers.set(turnId, number);
  }
  return numbers;
}

function shownEvent(fact: TimelineFact, numbers: ReadonlyMap<string, number>): ShownEvent {
  const { atMs, event, turnId, trackingId: _, tookMs, latencyMs, ...details } = fact;
  const turn = turnId === undefined ? undefined : numbers.get(turnId);
  const ms = tookMs ?? latencyMs;
  const named = Object.entries(details).map(([name, value]) => (typeof value === 'number' ? `${name} ${String(value)}` : value));
  const detail = named.join(', ');
  return {
    atMs,
    from: ACTORS[event] ?? 'server',
    event,
    ...(turn !== undefined && { turn }),
    ...(detail !== '' && { detail }),
    ...(typeof ms === 'number' && { ms }),
  };
}

function shownTurn(id: string, number: number, facts: readonly TimelineFact[]): ShownTurn {
  const first = (event: string): TimelineFact | undefined => facts.find((fact) => fact.event === event);
  const [started, answered] = [first('turn_started'), first('reply_started')];
  const input = inputOf(first('input_started'), first('input_ended'), first('bot_asked'));
  const parts = partsIn(first(PARTS));
  const [cut, failed, ended] = [first('barge_in'), first('bot_failed'), first('turn_ended')];
  return {
    ...{ id, number, atMs: facts[0]?.atMs ?? 0, prompts: [] },
    ...(typeof started?.['trackingId'] === 'string' && { trackingId: started['trackingId'] }),
    ...(input !== undefined && { input }),
    ...(parts !== undefined && { parts }),
    ...(answered !== undefined && { firstSoundMs: answered.atMs }),
    ...(cut !== undefined && { bargeIn: { atMs: cut.atMs, by: String(cut['by']), heardMs: Number(cut['heardMs']) } }),
    ...(failed !== undefined && { error: { code: String(failed['code']), message: 'the log has the line of the bot' } }),
    ...(ended !== undefined && { endMs: ended.atMs, end: String(ended['end']) }),
  };
}

function inputOf(spoke?: TimelineFact, spoken?: TimelineFact, asked?: TimelineFact): ShownInput | undefined {
  if (spoke !== undefined && spoken !== undefined) {
    const silenceMs = spoken['silenceMs'];
    return {
      ...{ kind: 'speech', atMs: spoke.atMs, completeMs: spoken.atMs },
      ...(typeof silenceMs === 'number' && { lastSoundMs: Math.max(spoke.atMs, spoken.atMs - silenceMs) }),
    };
  }
  if (asked === undefined) return undefined;
  return { kind: INPUTS[String(asked['botEvent'])] ?? 'event', atMs: asked.atMs, completeMs: asked.atMs };
}

function partsIn(fact: TimelineFact | undefined): AnswerParts | undefined {
  if (fact === undefined) return undefined;
  const ms = (name: keyof AnswerParts): number => Number(fact[name] ?? 0);
  return {
    ...{ endpointingMs: ms('endpointingMs'), recognitionMs: ms('recognitionMs'), botMs: ms('botMs'), modelMs: ms('modelMs') },
    ...{ toolsMs: ms('toolsMs'), synthesisMs: ms('synthesisMs'), engineMs: ms('engineMs') },
  };
}
