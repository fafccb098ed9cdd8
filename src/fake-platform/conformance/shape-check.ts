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
export type Look<Call extends Proof = RecordedCall> = (call: Call) => Found;

/** A check that looks at recorded calls. */
export interface ShapeOptions<Call extends Proof = RecordedCall> extends Pick<Check, 'id' | 'rules' | 'title' | 'level'> {
  readonly look: Look<Call>;
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
  const { look, otherwise, needs = [], ...named } = options;
  return {
    ...named,
    needs: ['call', ...needs],
    run: async (lab) => {
      judge(lab, await callsOf(lab), look, otherwise);
    },
  };
}

/** Inspects each of these calls. @throws CheckOutcome with the finding, or `otherwise` where there was nothing to examine. */
function judge<Call extends Proof>(
  lab: Pick<Lab, 'showCalls' | 'fail' | 'skip'>,
  calls: readonly Call[],
  look: Look<Call>,
  otherwise: string,
): void {
  const looked = calls.map((call) => ({ call, found: look(call) }));
  const seen = looked.filter(({ found }) => found !== NOTHING);
  const broken = seen.filter(({ found }) => found !== undefined);
  const [first] = broken;
  lab.showCalls((first === undefined ? seen.slice(0, 1) : broken).map(({ call }) => call));
  if (first?.found !== undefined) lab.fail(`in the call "${first.call.name}": ${String(first.found)}`);
  if (seen.length === 0) lab.skip(otherwise);
}

/** Checks every turn; reports the first breach with the turn's name. */
export function eachTurn<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  look: (turn: Turn, call: RecordedCall<Turn, Call>) => Found,
): Look<RecordedCall<Turn, Call>> {
  return (call) => firstBreach(call.turns.map((turn) => [turn.label, look(turn, call)]));
}

/** The turns of a kind before the end of the call. */
export function turnsOf<Turn extends ProbeTurn>(turns: readonly Turn[], kind: ProbeTurn['kind']): readonly Turn[] {
  const end = turns.findIndex(({ terminal }) => terminal !== undefined);
  return (end === -1 ? turns : turns.slice(0, end + 1)).filter((turn) => turn.kind === kind);
}

/** Inspects every turn of a kind before the end of the call. */
export function eachOf<Turn extends ProbeTurn, Call extends ProbeCall<Turn>>(
  kind: ProbeTurn['kind'],
  look: (turn: Turn, call: RecordedCall<Turn, Call>) => Found,
): Look<RecordedCall<Turn, Call>> {
  return eachTurn((turn, call) => (turnsOf(call.turns, kind).includes(turn) ? look(turn, call) : NOTHING));
}

/** The first breach of several checks, with its name; {@link NOTHING} when none had anything to check. */
export function firstBreach(looks: readonly (readonly [string, Found])[]): Found {
  const found = looks.filter(([, said]) => said !== NOTHING);
  const broken = found.find(([, said]) => typeof said === 'string');
  if (broken !== undefined) return `${broken[0]}: ${String(broken[1])}`;
  return found.length === 0 ? NOTHING : undefined;
}
