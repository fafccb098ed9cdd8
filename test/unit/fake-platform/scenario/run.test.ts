import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../../src/base/clock.ts';
import { AppError } from '../../../../src/base/errors.ts';
import type { Expectation } from '../../../../src/fake-platform/caller/expectation.ts';
import type { CallOutcome } from '../../../../src/fake-platform/caller/finding.ts';
import { junitReport } from '../../../../src/fake-platform/scenario/junit.ts';
import { planTests, type PlannedTest } from '../../../../src/fake-platform/scenario/plan.ts';
import { readScenarios } from '../../../../src/fake-platform/scenario/read.ts';
import { failureLines, resultLine, summaryLines } from '../../../../src/fake-platform/scenario/report-text.ts';
import {
  runTests,
  type PlacedCall,
  type ReadyTest,
  type RunOptions,
  type RunProgress,
} from '../../../../src/fake-platform/scenario/run.ts';
import type { Reply } from '../../../../src/fake-platform/caller/turn.ts';

/** Without those about recordings. */
function judged(expectations: PlannedTest['call']): readonly Expectation[] {
  return expectations.flatMap((expectation) => (expectation.kind === 'recording' ? [] : [expectation]));
}

/** The tests of a file, ready; what they say is not needed here. */
function testsOf(text: string): readonly ReadyTest[] {
  const read = readScenarios(text);
  if (!('file' in read)) throw new Error(JSON.stringify(read.problems));
  return planTests(read.file, 'folder/file.yaml', read.placeOf).map(({ welcome, steps, call, ...test }) => ({
    ...{ ...test, script: [], welcome: judged(welcome), call: judged(call) },
    steps: steps.map(({ label, expectations }) => ({ label, expectations: judged(expectations) })),
  }));
}

const named = (count: number): readonly ReadyTest[] =>
  testsOf(`tests:\n${Array.from({ length: count }, (_, index) => `  - name: test ${String(index)}`).join('\n')}`);

function reply(turn: number, texts: readonly string[], latencyMs: number): Reply {
  return {
    turn,
    kind: turn === 1 ? 'session_start' : 'dtmf',
    latencyMs,
    atMs: 0,
    prompts: 1,
    audioMs: 900,
    maxGapMs: 0,
    texts,
    isInterrupted: false,
    wasHeard: true,
  };
}

const NO_FACTS = {
  ...{ lengthMs: 1, clips: 0, longestClipMs: 0, firstClipAtMs: undefined },
  ...{ longestQuietMs: 0, longestQuietAtMs: undefined },
};

function callOf(outcome: CallOutcome, more: Partial<PlacedCall> = {}): PlacedCall {
  const none = { replies: [], heardTexts: [], findings: [], unmet: [], timeline: [], steps: [], terminal: undefined };
  const sound = { heard: new Int16Array(8), said: new Int16Array(8) };
  const lost = { turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 };
  return { ok: true, outcome, durationMs: 1000, pace: 1, conversationId: 'c-1', ...none, ...sound, ...lost, ...more };
}

function run(options: Partial<RunOptions> & Pick<RunOptions, 'tests' | 'place'>): ReturnType<typeof runTests> {
  return runTests({ jobs: 4, signal: new AbortController().signal, ...options });
}

describe('a run of tests', () => {
  it.each([1, 3, 50])('never has more than %i calls at once, and runs every round of every test', async (jobs) => {
    let now = 0;
    let most = 0;
    const seen: RunProgress[] = [];
    const results = await run({
      tests: named(10),
      jobs,
      repeat: 2,
      place: async () => {
        most = Math.max(most, (now += 1));
        await Promise.resolve();
        now -= 1;
        return callOf('hung_up');
      },
      onProgress: (progress) => seen.push(progress),
    });
    expect(most).toBe(Math.min(jobs, 20));
    expect(results.map(({ test, round, status }) => `${test.name}/${String(round)} ${status}`)).toEqual(
      [1, 2].flatMap((round) => Array.from({ length: 10 }, (_, index) => `test ${String(index)}/${String(round)} passed`)),
    );
    expect(seen.at(-1)).toEqual({ done: 20, failed: 0, running: 0, total: 20 });
    expect(Math.max(...seen.map(({ running }) => running))).toBe(most);
  });

  it('begins no more tests after the signal, and tells calls that were cut from those that were not placed', async () => {
    const stop = new AbortController();
    const results = await run({
      tests: named(5),
      jobs: 2,
      signal: stop.signal,
      place: async ({ name }) => {
        if (name === 'test 1') stop.abort();
        await Promise.resolve();
        return callOf(stop.signal.aborted ? 'interrupted' : 'hung_up');
      },
    });
    expect(results.map(({ status }) => status)).toEqual(['interrupted', 'interrupted', 'skipped', 'skipped', 'skipped']);
    expect(summaryLines(results, 1)[0]).toBe('0 passed, 0 failed, 2 interrupted, 3 skipped in 0.0 s');
  });

  it('stops at the first failure with `bail`, and names a call that could not be placed', async () => {
    const place = (): Promise<never> => Promise.reject(new AppError('prompt_unusable', 'the line is gone'));
    const statuses = async (bail: boolean): Promise<readonly string[]> =>
      (await run({ tests: named(3), jobs: 1, bail, place })).map(({ status }) => status);
    expect(await statuses(true)).toEqual(['failed', 'skipped', 'skipped']);
    expect(await statuses(false)).toEqual(['failed', 'failed', 'failed']);
    const [result] = await run({ tests: named(1), place });
    expect(result?.failures).toEqual([{ place: 'call', expected: 'the call is placed', found: 'the line is gone' }]);
  });

  it('passes the sound on for recording and keeps none itself, nor the timeline of a test that passed', async () => {
    const lengths: (number | undefined)[] = [];
    const keep: RunOptions['keep'] = ({ call }) => {
      lengths.push(call?.heard.length);
      return Promise.resolve(['a.wav']);
    };
    const sound = { facts: { ...NO_FACTS }, pieces: [new Int16Array(8)] };
    const timeline = [{ atMs: 900, who: 'caller', what: 'presses' }] as const;
    const place = ({ name }: ReadyTest): Promise<PlacedCall> =>
      Promise.resolve(callOf(name === 'test 0' ? 'ended' : 'failed', { timeline, replies: [{ ...reply(1, [], 20), sound }] }));
    const [passed, failed] = await run({ tests: named(2), place, keep });
    expect([lengths, passed?.call?.heard.length, passed?.call?.replies[0]?.sound?.pieces]).toEqual([[8, 8], 0, []]);
    expect([passed?.recordings, passed?.call?.timeline, failed?.call?.timeline]).toEqual([['a.wav'], [], timeline]);
  });

  it('stops every call when something breaks, and says so only when all are over', async () => {
    let under = 0;
    const place: RunOptions['place'] = async ({ name }, signal) => {
      under += 1;
      if (name === 'test 1') await Promise.resolve();
      else await once(signal, 'abort');
      under -= 1;
      return callOf(signal.aborted ? 'interrupted' : 'ended');
    };
    const keep: RunOptions['keep'] = ({ status }) => (status === 'passed' ? Promise.reject(new TypeError('broken')) : Promise.resolve([]));
    await expect(run({ tests: named(9), jobs: 3, place, keep })).rejects.toThrow('broken');
    expect(under).toBe(0);
  });
});

const TWO_STEPS = `
tests:
  - name: hours <&> "]]>"
    welcome: { heard: welcome, not_heard: hours }
    steps:
      - press: '1'
        interrupt_at: hours
        expect: { heard: nine to five, latency_below_ms: 300 }
      - press: '0'
        expect: { ends: transferred, with_data: { reason: asked } }
`;

/** A call on which both steps were done. */
const GOOD: Partial<PlacedCall> = {
  replies: [reply(1, ['Welcome.'], 20), reply(4, ['From nine to five.'], 250), reply(6, ['One moment.'], 20)],
  steps: [
    { atMs: 900, fromTurn: 3, isInterruption: true, isTaken: true },
    { atMs: 2000, fromTurn: 5, isInterruption: false, isTaken: true },
  ],
  terminal: { kind: 'transfer', name: '', metadata: { reason: 'asked' }, turn: 6 },
};

async function failuresOf(call: PlacedCall): Promise<readonly string[]> {
  const [result] = await run({ tests: testsOf(TWO_STEPS), place: () => Promise.resolve(call) });
  return result?.failures.map(({ place, expected, found, turn }) => `${place} | ${expected} | ${found} | ${String(turn)}`) ?? [];
}

describe('the verdict on a call', () => {
  it('judges the welcome and each step by its own replies', async () => {
    expect(await failuresOf(callOf('transferred', GOOD))).toEqual([]);
    const swapped = [reply(1, ['From nine to five, the hours.'], 20), reply(4, ['Welcome.'], 250), reply(6, [], 20)];
    expect(await failuresOf(callOf('transferred', { ...GOOD, replies: swapped }))).toEqual([
      'welcome | heard "welcome" | heard "From nine to five, the hours." | undefined',
      'welcome | not_heard "hours" | heard "From nine to five, the hours." | undefined',
      'step 1 (press 1) | heard "nine to five" | heard "Welcome." | undefined',
    ]);
  });

  it('knows the custom events of the server, the name of the last one, and which defaults hold', async () => {
    const text = `
defaults: { agent: a, line: { jitter_ms: 5 }, expect: { ends: ended, not_clipped: true } }
tests:
  - name: events
    without_defaults: [agent, ends]
    flow_events: [{ at_ms: 50, name: bonus }]
    steps: [{ press: '1', expect: { sends_event: [first, /^second$/] } }]
    expect: { event_name: transfer, sends_event: third }
`;
    const event = (name: string, turn: number) => ({ atMs: 1, who: 'server', what: 'custom_event', detail: name, turn }) as const;
    const steps = [{ atMs: 900, fromTurn: 3, isInterruption: false, isTaken: true }];
    const terminal = { kind: 'transfer', name: 'transfer_requested', metadata: {}, turn: 4 } as const;
    const judge = async (more: Partial<PlacedCall>): Promise<readonly (string | undefined)[]> => {
      const [result] = await run({
        tests: testsOf(text),
        place: () => Promise.resolve(callOf('transferred', { steps, terminal, ...more })),
      });
      expect(result?.test.settings).toMatchObject({
        conditions: { jitterMs: 5 },
        flowEvents: [{ atMs: 50, name: 'bonus', parameters: {} }],
      });
      expect(result?.test.settings).not.toHaveProperty('agentId');
      return result?.failures.map(({ place, expected, found }) => `${place} | ${expected} | ${found}`) ?? [];
    };
    const timeline = [event('first', 3), event('second', 4), event('third', 4)];
    expect(await judge({ timeline })).toEqual([]);
    expect(
      await judge({ timeline: [event('third', 1), event('second', 3), event('first', 4)], terminal: { ...terminal, name: '' } }),
    ).toEqual(['step 1 (press 1) | sends_event /^second$/ | no custom event came', 'call | event_name "transfer" | the event has no name']);
  });

  it('names the turn that was slow', async () => {
    const replies = [reply(1, ['Welcome.'], 20), reply(4, ['From nine to five.'], 1450), reply(6, [], 20)];
    expect(await failuresOf(callOf('transferred', { ...GOOD, replies }))).toEqual([
      'step 1 (press 1) | latency_below_ms 300 | the reply to dtmf (#4) took 1450 ms | 4',
    ]);
  });

  it('fails a step that was not done, or that interrupted nothing', async () => {
    const steps = [{ atMs: 900, fromTurn: 3, isInterruption: false, isTaken: true }];
    const [interrupt, missed] = await failuresOf(callOf('ended', { ...GOOD, steps, terminal: undefined }));
    expect(interrupt).toContain('interrupt_at "hours" | the prompts were over before that moment');
    expect(missed).toBe('step 2 (press 0) | the step is done | the call was ended before it | undefined');
  });

  it('fails a step whose input the platform dropped, unless that is expected', async () => {
    const steps = GOOD.steps?.map((mark) => ({ ...mark, isTaken: false })) ?? [];
    expect(await failuresOf(callOf('transferred', { ...GOOD, steps }))).toEqual([
      'step 1 (press 1) | the platform takes the input | the platform dropped what came | undefined',
      'step 2 (press 0) | the platform takes the input | the platform dropped what came | undefined',
    ]);
    const tests = testsOf("tests: [{ name: a, steps: [{ press: '1', expect: { dropped: true } }] }]");
    const failed = async (isTaken: boolean): Promise<readonly unknown[] | undefined> => {
      const place = (): Promise<PlacedCall> =>
        Promise.resolve(callOf('hung_up', { steps: [{ atMs: 1, fromTurn: 2, isInterruption: true, isTaken }] }));
      return (await run({ tests, place }))[0]?.failures;
    };
    expect(await failed(false)).toEqual([]);
    expect(await failed(true)).toMatchObject([{ expected: 'dropped', found: 'the platform took it' }]);
  });

  it('fails a call with a breach of the contract, and one that failed', async () => {
    const finding = { code: 'chunk_size', rule: 'G-42', message: '3 bytes', turn: 4, atMs: 1, fatal: false } as const;
    expect(await failuresOf(callOf('transferred', { ...GOOD, findings: [finding] }))).toEqual([
      'call | no breach of the contract | G-42 chunk_size: 3 bytes | 4',
    ]);
    const [result] = await run({ tests: named(1), place: () => Promise.resolve(callOf('failed')) });
    expect(result?.status).toBe('failed');
  });
});

/** A clock that is half a second later whenever it is asked. */
function halfSeconds(): Clock {
  let nowMs = 0;
  return { ...systemClock, monotonicMs: () => (nowMs += 500) };
}

describe('the reports', () => {
  const slow = async (): ReturnType<typeof runTests> =>
    run({
      tests: testsOf(TWO_STEPS),
      clock: halfSeconds(),
      keep: () => Promise.resolve(['recordings/hours.wav']),
      place: () =>
        Promise.resolve(
          callOf('transferred', {
            ...GOOD,
            replies: [reply(1, ['Welcome.\u0007\u001b[31m ]]>'], 20), reply(4, ['From nine to five.'], 1450), reply(6, [], 20)],
            timeline: [
              { atMs: 900, who: 'caller', what: 'presses', detail: '1' },
              { atMs: 2350, who: 'server', what: 'prompt', turn: 4, latencyMs: 1450 },
            ],
          }),
        ),
    });

  it('show what was expected, what was heard, and the timeline with the slow turn marked', async () => {
    const [result] = await slow();
    if (result === undefined) throw new Error('there is no result');
    expect(resultLine(result, false)).toBe('failed       folder/file.yaml:3  hours <&> "]]>"  1.0 s, slowest reply 1450 ms');
    expect(failureLines(result, false)).toEqual([
      'FAILED  folder/file.yaml:3  hours <&> "]]>"',
      '  expected  step 1 (press 1): latency_below_ms 300',
      '  found     the reply to dtmf (#4) took 1450 ms',
      '  heard',
      '    #1    session_start  "Welcome. [31m ]]>"  +20 ms',
      '  > #4    dtmf           "From nine to five."  +1450 ms',
      '    #6    dtmf           0.9 s without text  +20 ms',
      '  timeline',
      '       0.900  caller    presses               1',
      '  >    2.350  server    prompt          #4      +1450 ms',
      '  conversation  c-1',
      '  recording     recordings/hours.wav',
    ]);
    expect(summaryLines([result], 2000)[1]).toBe('slowest reply: 1450 ms to dtmf (#4) in folder/file.yaml:3 hours <&> "]]>"');
  });

  it('are XML whatever a server says: escaped, and without characters that XML cannot hold', async () => {
    const xml = junitReport([
      ...(await slow()),
      ...(await run({ tests: named(1), place: () => Promise.reject(new RangeError('\u0000\ud800')) })),
    ]);
    expect(xml).toContain('<testcase classname="folder/file.yaml" name="hours &lt;&amp;> &quot;]]>&quot;" time="0.5">');
    expect(xml).toContain('message="step 1 (press 1): expected latency_below_ms 300; the reply to dtmf (#4) took 1450 ms"');
    expect(xml).toContain('<testsuites name="parley test" tests="2" failures="2"');
    // The name of one test, and the ends of two sections: what the server said ends none.
    expect(xml.match(/\]\]>/gu)).toHaveLength(3);
    // The characters that XML 1.0 allows; lone surrogates are none.
    expect(xml).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
  });
});
