// Makes checks that only look at calls which were placed for all of them. Knows no rule.
import type { Check, Need } from './check.ts';
import type { CallRecord } from './survey.ts';

/** There was nothing to look at. */
export const NOTHING = Symbol('nothing');

/** What a look at one call found: a breach in words, {@link NOTHING} where there was nothing to look at, undefined where all is well. */
export type Look = (call: CallRecord) => string | typeof NOTHING | undefined;

/** A check that looks at recorded calls. */
export interface ShapeOptions {
  readonly id: string;
  readonly rules: readonly [string, ...string[]];
  readonly title: string;
  readonly look: Look;
  /** Why the check does not apply when there was nothing to look at in any call: a sentence. */
  readonly otherwise: string;
  readonly needs?: readonly Need[];
}

/** Makes the check. Its proof is the calls with a breach, else the first in which there was something to see. */
export function shapeCheck({ id, rules, title, look, otherwise, needs = [] }: ShapeOptions): Check {
  return {
    ...{ id, rules, title },
    needs: ['call', ...needs],
    run: async (lab) => {
      const looked = (await lab.calls()).map((call) => ({ call, found: look(call) }));
      const seen = looked.filter(({ found }) => found !== NOTHING);
      const broken = seen.filter(({ found }) => found !== undefined);
      const [first] = broken;
      lab.showCalls((first === undefined ? seen.slice(0, 1) : broken).map(({ call }) => call));
      if (first?.found !== undefined) lab.fail(`in the call "${first.call.name}": ${String(first.found)}`);
      if (seen.length === 0) lab.skip(otherwise);
    },
  };
}
