// Makes checks that only look at calls which were placed for all of them. Knows no rule.
import type { BaseLab } from './base-lab.ts';
import type { Check, Need } from './check.ts';
import type { Proof } from './exchange.ts';
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

/** Makes the check. Its proof is the calls with a breach, else the first in which there was something to see. */
export function shapeCheck(options: ShapeOptions<CallRecord>): Check {
  const { look, otherwise, needs = [], ...named } = options;
  return {
    ...named,
    needs: ['call', ...needs],
    run: async (lab) => {
      judge(lab, await lab.calls(), look, otherwise);
    },
  };
}

/** Looks at each of these calls. @throws CheckOutcome with what was found, or `otherwise` where there was nothing to look at. */
export function judge<Call extends Proof>(lab: BaseLab, calls: readonly Call[], look: Look<Call>, otherwise: string): void {
  const looked = calls.map((call) => ({ call, found: look(call) }));
  const seen = looked.filter(({ found }) => found !== NOTHING);
  const broken = seen.filter(({ found }) => found !== undefined);
  const [first] = broken;
  lab.showCalls((first === undefined ? seen.slice(0, 1) : broken).map(({ call }) => call));
  if (first?.found !== undefined) lab.fail(`in the call "${first.call.name}": ${String(first.found)}`);
  if (seen.length === 0) lab.skip(otherwise);
}
