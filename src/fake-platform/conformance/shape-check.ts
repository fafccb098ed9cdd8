// Makes checks that only examine calls which were placed for all checks. Knows no rule.
import type { ProbeCall, ProbeTurn } from './call.ts';
import type { Check, Need } from './check.ts';
import type { Proof } from './exchange.ts';
import type { Lab } from './lab.ts';
import type { Probe } from './probe.ts';
import type { RecordedCall } from './survey.ts';

/** There was nothing to examine. */
export const NOTHING = Symbol('nothing');

/** The finding of an inspection: a breach in words, {@link NOTHING} where there was nothing to examine, undefined where all is well. */
export type Found = string | typeof NOTHING | undefined;

/** Inspects one call. */
export type Inspection<Call extends Proof = RecordedCall> = (call: Call) => Found;

/** A check that examines recorded calls. */
export interface ShapeOptions<Call extends Proof = RecordedCall> extends Pick<Check, 'id' | 'rules' | 'title' | 'level'> {
  readonly inspect: Inspection<Call>;
  /** Why the check does not apply when no call had anything to examine: a sentence. */
  readonly otherwise: string;
  readonly needs?: readonly Need[];
}

/** Makes a check of the calls with every kind of input. */
export function shapeCheck<Turn extends ProbeTurn, Call extends ProbeCall<Turn>, Transport extends Probe<Turn, Call>>(
  options: ShapeOptions<RecordedCall<Turn, Call>>,
): Check<Lab<Turn, Call, Transport>> {
  return shapeOf<Lab<Turn, Call, Transport>, RecordedCall<Turn, Call>>(options, (lab) => lab.calls());
}

/** Makes the check. Its evidence is the calls with a breach, else the first in which there was something to examine. */
export function shapeOf<Surroundings extends Lab, Call extends Proof>(
  options: ShapeOptions<Call>,
  callsOf: (lab: Surroundings) => Promise<readonly Call[]>,
): Check<Surroundings> {
  const { inspect, otherwise, needs = [], ...named } = options;
  return {
    ...named,
    needs: ['call', ...needs],
    run: async (lab) => {
      judge(lab, await callsOf(lab), inspect, otherwise);
    },
  };
}

/** Inspects each of these calls. @throws CheckOutcome with the finding, or `otherwise` where there was nothing to examine. */
function judge<Call extends Proof>(
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

/** Checks every turn; reports the first breach with the turn's name. */
export function eachTurn<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  inspect: (turn: Turn, call: RecordedCall<Turn, Call>) => Found,
): Inspection<RecordedCall<Turn, Call>> {
  return (call) => firstBreach(call.turns.map((turn) => [turn.label, inspect(turn, call)]));
}

/** The turns of a kind before the end of the call. */
export function turnsOf<Turn extends ProbeTurn>(turns: readonly Turn[], kind: ProbeTurn['kind']): readonly Turn[] {
  const end = turns.findIndex(({ terminal }) => terminal !== undefined);
  return (end === -1 ? turns : turns.slice(0, end + 1)).filter((turn) => turn.kind === kind);
}

/** Inspects every turn of a kind before the end of the call. */
export function eachOf<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  kind: ProbeTurn['kind'],
  inspect: (turn: Turn, call: RecordedCall<Turn, Call>) => Found,
): Inspection<RecordedCall<Turn, Call>> {
  return eachTurn((turn, call) => (turnsOf(call.turns, kind).includes(turn) ? inspect(turn, call) : NOTHING));
}

/** The first breach among several results, with its name; {@link NOTHING} when none examined anything. */
export function firstBreach(results: readonly (readonly [string, Found])[]): Found {
  const found = results.filter(([, said]) => said !== NOTHING);
  const broken = found.find(([, said]) => typeof said === 'string');
  if (broken !== undefined) return `${broken[0]}: ${String(broken[1])}`;
  return found.length === 0 ? NOTHING : undefined;
}
