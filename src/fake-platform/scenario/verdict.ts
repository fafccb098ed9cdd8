// Whether a call did what its test expects: of the welcome, of every step, and of the whole call. Knows results, places no calls.
import type { CallResult } from '../caller/caller.ts';
import { unmetExpectations, type Expectable, type Unmet } from '../caller/expectation-check.ts';
import type { Expectation } from '../caller/expectation.ts';
import type { TestExpectations } from './plan.ts';

export interface TestFailure extends Unmet {
  /** The part of the test that the expectation belongs to, such as `step 2 (press 1)`. */
  readonly place: string;
}

/** All unmet expectations, in the order of the test; empty when the test passed. */
export function failuresOf(test: TestExpectations<Expectation>, call: CallResult): readonly TestFailure[] {
  const { steps: marks } = call;
  const failures: TestFailure[] = [];
  const check = (place: string, expectations: readonly Expectation[], part: Expectable): void => {
    failures.push(...unmetExpectations(expectations, part).map((unmet) => ({ place, ...unmet })));
  };
  check('welcome', test.welcome, partOf(call, 0, marks[0]?.fromTurn));
  for (const [index, step] of test.steps.entries()) {
    const place = `step ${String(index + 1)} (${step.label})`;
    const mark = marks[index];
    if (mark === undefined) {
      // The following steps did not happen either.
      failures.push({ place, expected: 'the step is done', found: `the call was ${call.outcome.replace('_', ' ')} before it` });
      break;
    }
    check(place, step.expectations, {
      ...partOf(call, mark.fromTurn, marks[index + 1]?.fromTurn),
      mark,
    });
  }
  check('call', test.call, { ...call, customEvents: customEvents(call, 0, Infinity) });
  // A breach that the test allows can still have ended the call.
  const mayPass = call.outcome !== 'failed' || failures.length > 0;
  return mayPass ? failures : [...failures, { place: 'call', expected: 'the call is held to its end', found: 'it failed' }];
}

/** The part of a call from RPC `fromTurn` to the RPC before `toTurn`. */
function partOf(call: CallResult, fromTurn: number, toTurn = Infinity): Expectable {
  const { replies, terminal, outcome, pace } = call;
  const own = replies.filter(({ turn }) => turn >= fromTurn && turn < toTurn);
  const ends = toTurn === Infinity || (terminal !== undefined && terminal.turn >= fromTurn && terminal.turn < toTurn);
  return {
    outcome: ends ? outcome : 'open',
    heardTexts: own.flatMap(({ texts, wasHeard }) => (wasHeard ? texts : [])),
    replies: own,
    pace,
    customEvents: customEvents(call, fromTurn, toTurn),
    terminal: ends ? terminal : undefined,
  };
}

function customEvents({ timeline }: CallResult, fromTurn: number, toTurn: number): readonly string[] {
  return timeline.flatMap(({ who, what, turn = 0, detail = '' }) =>
    who === 'server' && what === 'custom_event' && turn >= fromTurn && turn < toTurn ? [detail] : [],
  );
}
