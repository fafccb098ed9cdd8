// Functions of checks that only examine calls which were placed for all checks. Know no rule.
import type { ProbeCall, ProbeTurn } from './call.ts';
import type { Proof } from './exchange.ts';
import type { Lab } from './lab.ts';
import type { RecordedCall } from './survey.ts';

export const NOTHING = Symbol('nothing');

/** The finding of an inspection: a breach in words; {@link NOTHING} when there was nothing to examine; undefined when all is well. */
export type Found = string | typeof NOTHING | undefined;

type Inspection<Call extends Proof = RecordedCall> = (call: Call) => Found;

type Examiner<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> = Pick<Lab, 'showCalls' | 'fail' | 'skip'> & {
  calls(): Promise<readonly RecordedCall<Turn, Call>[]>;
};
type Run<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> = (lab: Examiner<Turn, Call>) => Promise<void>;

/** A check that only inspects the recorded calls. @param otherwise - why the check does not apply when no call shows anything. */
export function eachCall<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  otherwise: string,
  inspect: Inspection<RecordedCall<Turn, Call>>,
): Run<Turn, Call> {
  return async (lab) => {
    judge(lab, await lab.calls(), inspect, otherwise);
  };
}

/**
 * Inspects each of these calls. The evidence is the calls with a breach; without one, the first call that showed anything.
 *
 * @throws CheckOutcome with the finding, or with `otherwise` when there was nothing to examine.
 */
export function judge<Call extends Proof>(
  lab: Pick<Lab, 'showCalls' | 'fail' | 'skip'>,
  calls: readonly Call[],
  inspect: Inspection<Call>,
  otherwise: string,
): void {
  const inspected = calls.map((call) => ({ call, found: inspect(call) }));
  const seen = inspected.filter(({ found }) => found !== NOTHING);
  const broken = seen.filter(({ found }) => found !== undefined);
  const [first] = broken;
  lab.showCalls((first === undefined ? seen.slice(0, 1) : broken).map(({ call }) => call));
  if (first?.found !== undefined) lab.fail(`in the call "${first.call.name}": ${String(first.found)}`);
  if (seen.length === 0) lab.skip(otherwise);
}

/** As {@link eachCall} for every turn of a call; reports the first breach with the turn's name. */
export function eachTurn<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  otherwise: string,
  inspect: (turn: Turn, call: RecordedCall<Turn, Call>) => Found,
): Run<Turn, Call> {
  return eachCall(otherwise, (call) => firstBreach(call.turns.map((turn) => [turn.label, inspect(turn, call)])));
}

/** The turns of a kind up to the end of the call. */
export function turnsOf<Turn extends ProbeTurn>(turns: readonly Turn[], kind: ProbeTurn['kind']): readonly Turn[] {
  const end = turns.findIndex(({ terminal }) => terminal !== undefined);
  return (end === -1 ? turns : turns.slice(0, end + 1)).filter((turn) => turn.kind === kind);
}

/** As {@link eachTurn} for the turns of a kind up to the end of the call. */
export function eachOf<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  kind: ProbeTurn['kind'],
  otherwise: string,
  inspect: (turn: Turn, call: RecordedCall<Turn, Call>) => Found,
): Run<Turn, Call> {
  return eachTurn(otherwise, (turn, call) => (turnsOf(call.turns, kind).includes(turn) ? inspect(turn, call) : NOTHING));
}

/** The first breach among these results, with its name; {@link NOTHING} when there was nothing to examine. */
export function firstBreach(results: readonly (readonly [string, Found])[]): Found {
  const found = results.filter(([, said]) => said !== NOTHING);
  const broken = found.find(([, said]) => typeof said === 'string');
  if (broken !== undefined) return `${broken[0]}: ${String(broken[1])}`;
  return found.length === 0 ? NOTHING : undefined;
}
