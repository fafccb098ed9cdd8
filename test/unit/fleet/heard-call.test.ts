// The ears of the fleet's callers: whatever a bot that counts may have lost is heard, and nothing else is.
import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../src/fake-platform/caller/caller.ts';
import { keysOf } from '../../../src/fake-platform/caller/key.ts';
import type { Step } from '../../../src/fake-platform/caller/script.ts';
import type { Reply } from '../../../src/fake-platform/caller/turn.ts';
import { heardCall, verdictOf } from '../../fleet/heard-call.ts';

const press = (key: string): Step => ({ kind: 'press', keys: keysOf(key) ?? [] });
const SCRIPT: readonly Step[] = [press('1'), press('2'), press('3'), press('9')];
const WELCOME = ['Welcome to the counter.'];
const answer = (number: number, key = String(number)): readonly string[] => [
  `Answer ${String(number)}.`,
  `You have pressed the key ${key}.`,
];
const GOODBYE = ['Goodbye after 3.'];

/** A call whose turns say these texts, the first one the welcome; step n begins before turn n + 1. */
function call(texts: readonly (readonly string[])[], change: Partial<CallResult> = {}): CallResult {
  const replies = texts.map((each, index): Reply => {
    const usual = {
      kind: 'dtmf',
      latencyMs: 10,
      atMs: 1,
      prompts: 1,
      audioMs: 1000,
      maxGapMs: 0,
      isInterrupted: false,
      wasHeard: true,
    } as const;
    return { ...usual, turn: index + 1, texts: each };
  });
  return {
    ...{ ok: true, outcome: 'ended', durationMs: 1000, pace: 1, timeline: [], replies, terminal: undefined, heardTexts: [] },
    ...{ heard: new Int16Array(0), said: new Int16Array(0), findings: [], unmet: [], turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 },
    steps: SCRIPT.map((_, index) => ({ atMs: 1, fromTurn: index + 2, isInterruption: false, isTaken: true })),
    ...change,
  };
}

const heard = (result: CallResult) => heardCall(result, SCRIPT, 5);

describe('what a caller of the counting bot hears', () => {
  it('is whole when every answer is the next one, to the key that was pressed', () => {
    const facts = heard(call([WELCOME, answer(1), answer(2), answer(3), GOODBYE]));
    expect(facts).toMatchObject({ answers: 3, oddities: [], story: [] });
    expect(verdictOf(facts)).toBe('whole');
  });

  it('is whole when an answer that was cut has gone unheard, and the next one counts it', () => {
    const facts = heard(call([WELCOME, answer(1), [], answer(3), GOODBYE]));
    expect(facts.oddities).toEqual([]);
  });

  it('is no loss when an answer that had begun to be heard is counted, and its input again when the platform repeats it', () => {
    const at = (what: string) => ({ atMs: 1, who: 'platform', what, turn: 3 }) as const;
    const texts = [WELCOME, answer(1), answer(3, '2'), answer(4, '3'), ['Goodbye after 4.']];
    const afterSound = heard(call(texts, { turnsRepeated: 1, timeline: [at('prompt'), at('repeats_turn'), at('prompt')] }));
    expect([afterSound.oddities, verdictOf(afterSound)]).toEqual([['countedOnceMore'], 'whole']);
    const before = heard(call(texts, { turnsRepeated: 1, timeline: [at('repeats_turn'), at('prompt')] }));
    expect([before.oddities, verdictOf(before)]).toEqual([['countedTwice'], 'lost_between_turns']);
  });

  it.each([
    ['an answer', [WELCOME, answer(1), answer(2), [], GOODBYE]],
    ['the goodbye', [WELCOME, answer(1), answer(2), answer(3), []]],
  ])('is whole when the texts of %s were lost with the status of its RPC', (_, texts) => {
    const facts = heard(call(texts));
    expect([facts.oddities, verdictOf(facts)]).toEqual([[], 'whole']);
  });

  it('is described from its first moment to its last where a rule was broken, although it is whole', () => {
    const finding = { code: 'final_missing', rule: 'G-43', message: 'no FINAL', atMs: 1, fatal: false, turn: 3 } as const;
    const timeline = [{ atMs: 1, who: 'server', what: 'completes', turn: 3 }] as const;
    const facts = heard(call([WELCOME, answer(1), answer(2), answer(3), GOODBYE], { findings: [finding], timeline }));
    expect([verdictOf(facts), facts.breaches]).toEqual(['whole', ['G-43 final_missing']]);
    expect(facts.story).toEqual([expect.stringContaining('completes')]);
  });

  it('is whole in whatever order the texts of a reply come', () => {
    expect(heard(call([WELCOME, [...answer(1)].reverse(), answer(2), answer(3), GOODBYE])).oddities).toEqual([]);
  });

  it.each([
    ['startedOver', [WELCOME, answer(1), WELCOME, answer(1, '3'), ['Goodbye after 1.']]],
    ['wentBack', [WELCOME, answer(1), answer(2), answer(1, '3'), ['Goodbye after 1.']]],
    ['countedTwice', [WELCOME, answer(1), answer(3, '2'), answer(4, '3'), ['Goodbye after 4.']]],
    ['otherKey', [WELCOME, answer(1), answer(2, '7'), answer(3), GOODBYE]],
    ['wentBack', [WELCOME, answer(1), answer(2), answer(3), ['Goodbye after 0.']]],
  ] as const)('is a loss when the bot has %s', (oddity, texts) => {
    const facts = heard(call(texts, { timeline: [{ atMs: 1, who: 'caller', what: 'hangs_up' }] }));
    expect(facts.oddities).toContain(oddity);
    expect(verdictOf(facts)).toBe('lost_between_turns');
    expect(facts.story.length).toBeGreaterThan(0);
  });

  it('is a loss when a human takes over, and none where that was to be expected at the beginning', () => {
    const facts = heard(call([['I will connect you.']], { outcome: 'transferred' }));
    expect([verdictOf(facts), verdictOf(facts, true)]).toEqual(['lost_between_turns', 'refused']);
    const later = heard(call([WELCOME, answer(1), ['I will connect you.']], { outcome: 'transferred' }));
    expect(verdictOf(later, true)).toBe('lost_between_turns');
  });

  it('reports an answer that was said again and of an apology, which lose nothing', () => {
    const facts = heard(call([WELCOME, answer(1), answer(1), ['Sorry.'], ['Goodbye after 1.']]));
    expect(facts.oddities).toEqual(['saidAgain', 'apology']);
    expect(verdictOf(facts)).toBe('whole');
  });

  it('reports an answer that came late, to an input whose own reply was not heard, which loses nothing', () => {
    // The first reply was cut before its texts came, so nobody knows what was heard of it.
    const facts = heard(call([WELCOME, [], answer(1), answer(2, '3'), ['Goodbye after 2.']]));
    expect(facts.oddities).toEqual(['saidLate']);
    expect(verdictOf(facts)).toBe('whole');
  });

  it.each([
    ['an input that was answered already', [WELCOME, answer(1), answer(2, '1'), answer(3), GOODBYE]],
    ['an input that comes only later', [WELCOME, [], answer(1, '3'), answer(2, '3'), ['Goodbye after 2.']]],
    ['an input that waits, and counts one more than that', [WELCOME, [], answer(2, '1'), answer(3), GOODBYE]],
  ])('is a loss when the bot answers %s', (_, texts) => {
    const facts = heard(call(texts));
    expect(facts.oddities).toEqual(['otherKey']);
    expect(verdictOf(facts)).toBe('lost_between_turns');
  });

  it('takes an input that the platform dropped for none that waits for its answer', () => {
    const dropped = { atMs: 1, fromTurn: 2, isInterruption: false, isTaken: false };
    const taken = call([WELCOME, [], answer(1), answer(2, '3'), ['Goodbye after 2.']]);
    const [, ...rest] = taken.steps;
    expect(heard({ ...taken, steps: [dropped, ...rest] }).oddities).toContain('otherKey');
  });

  it.each([
    ['again', [WELCOME, answer(1), answer(2), answer(3), answer(3)], ['saidAgain', 'noFarewell']],
    ['late', [WELCOME, answer(1), answer(2), [], answer(3)], ['saidLate', 'noFarewell']],
  ])('is whole when an answer that is said %s comes in place of the goodbye, and the caller hangs up', (_, texts, oddities) => {
    const facts = heard(call(texts, { outcome: 'hung_up' }));
    expect(facts.oddities).toEqual(oddities);
    expect(verdictOf(facts)).toBe('whole');
  });

  it('is a loss when the caller hangs up because no farewell came at all', () => {
    const facts = heard(call([WELCOME, answer(1), answer(2), answer(3), []], { outcome: 'hung_up' }));
    expect([facts.oddities, verdictOf(facts)]).toEqual([[], 'lost_between_turns']);
  });

  it('was lost in a turn when a turn was lost for good, and between turns when none was', () => {
    const failed = { outcome: 'failed' } as const;
    expect(verdictOf(heard(call([WELCOME], { ...failed, turnsLost: 1 })))).toBe('lost_in_turn');
    expect(verdictOf(heard(call([WELCOME], failed)))).toBe('lost_between_turns');
    expect(verdictOf(heard(call([WELCOME], { outcome: 'interrupted' })))).toBe('broken_off');
  });
});
