// Makes checks that only look at calls which were placed for all of them. Knows no rule.
import type { BaseLab } from './base-lab.ts';
import type { Check, Need } from './check.ts';
import type { Proof } from './exchange.ts';
import type { CheckLab } from './lab.ts';
import type { CallRecord } from './rpc-survey.ts';

/** There was nothing to look at. */
export const NOTHING = Symbol('nothing');

/** What a look at one call found: a breach in words, {@link NOTHING} where there was nothing to look at, undefined where all is well. */
export type Look<Call extends Proof = CallRecord> = (call: Call) => string | typeof NOTHING | undefined;

/** A check that looks at recorded calls. */
export interface ShapeOptions<Call extends Proof> extends Pick<Check, 'level'> {
  readonly id: string;
  readonly rules: readonly [string, ...string[]];
  readonly title: string;
  readonly look: Look<Call>;
  /** Why the check does not apply when there was nothing to look at in any call: a sentence. */
  readonly otherwise: string;
  readonly needs?: readonly Need[];
}

/** Makes a check of a server of RPCs. */
export function shapeCheck(options: ShapeOptions<CallRecord>): Check {
  return shapeOf<CheckLab, CallRecord>(options, (lab) => lab.calls());
}

/** Makes the check. Its proof is the calls with a breach, else the first in which there was something to see. */
export function shapeOf<Lab extends BaseLab, Call extends Proof>(
  options: ShapeOptions<Call>,
  callsOf: (lab: Lab) => Promise<readonly Call[]>,
): Check<Lab> {
  const { look, otherwise, needs = [], ...named } = options;
  return {
    ...named,
    needs: ['call', ...needs],
    run: async (lab) => {
      judge(lab, await callsOf(lab), look, otherwise);
    },
  };
}

/** Looks at each of these calls. @throws CheckOutcome with what was found, or `otherwise` where there was nothing to look at. */
function judge<Call extends Proof>(lab: BaseLab, calls: readonly Call[], look: Look<Call>, otherwise: string): void {
  const looked = calls.map((call) => ({ call, found: look(call) }));
  const seen = looked.filter(({ found }) => found !== NOTHING);
  const broken = seen.filter(({ found }) => found !== undefined);
  const [first] = broken;
  lab.showCalls((first === undefined ? seen.slice(0, 1) : broken).map(({ call }) => call));
  if (first?.found !== undefined) lab.fail(`in the call "${first.call.name}": ${String(first.found)}`);
  if (seen.length === 0) lab.skip(otherwise);
}

/** The first breach of several looks, told with its name; {@link NOTHING} where none had anything to look at. */
export function firstBreach(looks: readonly (readonly [string, ReturnType<Look>])[]): ReturnType<Look> {
  const found = looks.filter(([, said]) => said !== NOTHING);
  const broken = found.find(([, said]) => typeof said === 'string');
  if (broken !== undefined) return `${broken[0]}: ${String(broken[1])}`;
  return found.length === 0 ? NOTHING : undefined;
}
