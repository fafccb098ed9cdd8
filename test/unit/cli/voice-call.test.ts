// Calls of evaluations by voice, with a line that is told what happens on it, and what is said of them afterwards.
import { describe, expect, it } from 'vitest';
import { assistant, scripted, tool, z, type LanguageModel } from '../../../src/ai/index.ts';
import { seededNumbers } from '../../../src/base/seeded-numbers.ts';
import { TestCall } from '../../../src/bot/testing.ts';
import type { Eval } from '../../../src/cli/evaluation/eval-file.ts';
import { evalPage } from '../../../src/cli/evaluation/eval-page.ts';
import { evalData, evalResult, junitCase, resultLines } from '../../../src/cli/evaluation/eval-report.ts';
import { evaluatedOf, type EvaluatedRun } from '../../../src/cli/evaluation/evaluated.ts';
import type { Run } from '../../../src/cli/evaluation/run.ts';
import { voiceCall } from '../../../src/cli/evaluation/voice-call.ts';
import { WatchedBots } from '../../../src/cli/evaluation/watched-bots.ts';
import type { CallResult } from '../../../src/fake-platform/caller/caller.ts';
import type { CallSoFar, Step } from '../../../src/fake-platform/caller/script.ts';
import type { Reply } from '../../../src/fake-platform/caller/turn.ts';
import { parts } from '../../support/written-model.ts';

/** A caller's model, and what it was told last each time. */
function caller(...words: readonly (string | undefined)[]) {
  const told: string[] = [];
  const model: LanguageModel = {
    ...{ specificationVersion: 'v3', provider: 'test', modelId: 'test' },
    doStream: ({ prompt }) => {
      const given = words[told.push(JSON.stringify(prompt.at(-1))) - 1];
      return given === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve({ stream: parts(given) });
    },
  };
  return { model, told };
}

function reply(turn: number, text: string, more: Partial<Reply> = {}): Reply {
  const kind = turn === 1 ? 'session_start' : 'speech';
  const sound = { atMs: turn * 1000, latencyMs: turn * 100, audioMs: 2000, prompts: 1, maxGapMs: turn };
  return { turn, kind, ...sound, texts: text === '' ? [] : [text], isInterrupted: false, wasHeard: true, ...more };
}

/** The replies that the caller has heard when each step is decided; the last ones are those of the whole call. */
type Course = readonly (readonly Reply[])[];

async function held(
  model: LanguageModel,
  course: Course,
  more: Partial<Run> & { result?: Partial<CallResult>; bots?: WatchedBots; interrupts?: number } = {},
) {
  const { result, bots, interrupts = 0, ...run } = more;
  const steps: Step[] = [];
  const marks: CallSoFar['steps'][number][] = [];
  const talked = await voiceCall(
    {
      ...{ number: 1, maxTurns: 5, signal: new AbortController().signal, random: () => 0.4, onTokens: () => undefined },
      persona: { model, brief: 'Calm.', goal: 'None.', interrupts },
      ...run,
    },
    {
      bots,
      speak: (text) =>
        text === 'mute'
          ? Promise.reject(new Error('no voice'))
          : Promise.resolve({ kind: 'say', label: `"${text}"`, mulaw: Buffer.from(text) }),
      place: async ({ improvise }) => {
        for (const replies of course) {
          const step = await improvise?.({ replies, steps: marks, mayInterrupt: true });
          if (step === undefined) continue;
          steps.push(step);
          if (step.kind === 'hang_up') break;
          marks.push({ atMs: (replies.at(-1)?.atMs ?? 0) + 500, fromTurn: 1, isInterruption: false, isTaken: true });
        }
        const ended = { outcome: 'hung_up', terminal: undefined, findings: [], pace: 2, replies: course.at(-1) ?? [], steps: marks };
        // What a run does not read is left out.
        return { ...ended, ...result } as unknown as CallResult;
      },
    },
  );
  return { ...talked, steps };
}

const HELLO = reply(1, 'Hello. Which day?');
const BOOKED = reply(2, 'It is booked for you now.');

describe('a call of a persona', () => {
  it('goes on from what was heard, and measures replies to its caller in real time', async () => {
    const { model, told } = caller('Tuesday.', '[keys 12]', '[hang up]');
    const { facts, broken, steps } = await held(model, [[HELLO], [HELLO, BOOKED], [HELLO, BOOKED, reply(4, 'Bye.', { kind: 'dtmf' })]]);
    expect(steps).toMatchObject([{ kind: 'say', label: '"Tuesday."' }, { kind: 'press', keys: ['1', '2'] }, { kind: 'hang_up' }]);
    expect(told.map((message) => /"text":"(?<text>.*?)"/u.exec(message)?.groups?.['text'])).toEqual([
      ...['Hello. Which day?', 'It is booked for you now.', 'Bye.'],
    ]);
    expect(broken).toBeUndefined();
    expect(facts).toEqual({
      ...{ end: 'hung_up', tools: [], answerMs: [100, 200], gapMs: 4 },
      lines: [
        { by: 'bot', text: 'Hello. Which day?' },
        { by: 'caller', text: 'Tuesday.' },
        { by: 'bot', text: 'It is booked for you now.' },
        { by: 'caller', text: '[keys 12]' },
        { by: 'bot', text: 'Bye.' },
      ],
    });
  });

  it('interrupts where the seed says, knowing only what it will have heard by then, and never the greeting', async () => {
    const { model, told } = caller('Tuesday.', 'Wait.', '[hang up]');
    const cut = { ...BOOKED, isInterrupted: true, heardMs: 1000 };
    const course = [[HELLO], [HELLO, BOOKED], [HELLO, cut, reply(3, 'Yes?')]];
    const { facts, steps } = await held(model, course, { interrupts: 0.5 });
    expect(steps.map((step) => step.interruptMs)).toEqual([undefined, 800, undefined]);
    expect(told[1]).toContain('"It is booked —"');
    expect(facts.lines[2]).toEqual({ by: 'bot', text: 'It is booked —' });
    const never = await held(caller('Tuesday.', 'Wait.', '[hang up]').model, course, { interrupts: 0.3 });
    expect(never.steps.map((step) => step.interruptMs)).toEqual([undefined, undefined, undefined]);
  });

  it('takes several replies in a row for one line, and leaves out what nobody heard', async () => {
    const unheard = reply(2, 'Never heard.', { wasHeard: false });
    const { facts } = await held(caller('[hang up]').model, [[HELLO, unheard, reply(3, 'Are you there?', { kind: 'no_input' })]]);
    expect(facts).toMatchObject({ lines: [{ by: 'bot', text: 'Hello. Which day? Are you there?' }], answerMs: [] });
  });

  it('gives up after its turns', async () => {
    const { facts, steps } = await held(caller('a', 'b', 'c').model, [[HELLO], [HELLO], [HELLO]], { maxTurns: 2 });
    expect([facts.end, steps.length, steps.at(-1)?.kind]).toEqual(['too_long', 3, 'hang_up']);
  });

  it.each([
    ['transferred', { outcome: 'transferred', terminal: { kind: 'transfer', name: '', metadata: {}, turn: 2 } }],
    ['ended', { outcome: 'hung_up', terminal: { kind: 'session_end', name: '', metadata: {}, turn: 2 } }],
  ] as const)('was %s by the bot, whoever hung up', async (end, result) => {
    expect((await held(caller('[hang up]').model, [[HELLO]], { result })).facts.end).toBe(end);
  });

  const fatal = { code: 'no_answer', message: 'no answer in time', atMs: 1, fatal: true } as const;

  it.each([
    ['the model of the caller failed', [undefined], [[HELLO]], {}],
    ['the caller cannot speak: no voice', ['mute'], [[HELLO]], {}],
    ['nobody knows what the bot said: the server must send its texts (media.reveal_prompt_text)', ['Hm.'], [[reply(1, '')]], {}],
    ['the call failed: no answer in time', ['[hang up]'], [[HELLO]], { outcome: 'failed', findings: [fatal] }],
    ['the bot failed, and the server apologized for it', ['[hang up]'], [[{ ...HELLO, isApology: true }]], {}],
  ] as const)('is broken when %s', async (why, words, course, result) => {
    expect((await held(caller(...words).model, course, { result })).broken).toBe(why);
  });
});

describe('watched bots', () => {
  const look = tool({ description: 'Looks', input: z.object({ day: z.string() }), run: () => 'nine' });
  const model = scripted({ use: 'look', input: { day: 'friday' } }, 'At nine.');

  it('show the tools of a call and what was said last, and answer as before', async () => {
    const watched = new WatchedBots([
      assistant({ id: 'desk', name: 'Desk', model, instructions: '', greeting: 'Hello.', tools: { look } }),
    ]);
    const [bot] = watched.bots;
    if (bot === undefined) throw new Error('there is no bot');
    const seen = watched.watch('watched');
    const other = watched.watch('another');
    const call = await new TestCall(bot, { conversationId: 'watched' }).start();
    (await call.speak('Friday?')).hears('At nine.');
    expect(seen.lastSaid).toBe('At nine.');
    await call.hangUp();
    expect(await seen.tools()).toEqual([{ tool: 'look', input: { day: 'friday' }, output: 'nine' }]);
    expect(other.lastSaid).toBe('');
  });
});

const RUN: EvaluatedRun = {
  verdict: 'passed',
  why: [],
  end: 'hung_up',
  lines: [{ by: 'bot', text: '<b>Hi</b>' }],
  tools: [],
  answerMs: [700],
  gapMs: 3,
};

function resultOf(verdicts: readonly EvaluatedRun['verdict'][], { passRate = 0.9, isStrict = false, isConfident = false } = {}) {
  const runs = verdicts.map((verdict) => ({
    ...RUN,
    verdict,
    why: verdict === 'passed' ? [] : ['so'],
    ...(verdict === 'failed' && { recording: 'rec/a b.wav' }),
  }));
  const test = { name: 'greets', file: 'desk.yaml', line: 4, passRate } as Eval;
  const usages = [
    { price: { in: 2, out: 10 }, tokensIn: 500_000, tokensOut: 100_000 },
    { price: undefined, tokensIn: 1, tokensOut: 1 },
  ];
  return evalResult(test, evaluatedOf(runs, 7), { isStrict, isConfident }, { tookMs: 1500, usages });
}

describe('the result of a test', () => {
  it.each([
    [['passed', 'passed'], {}, true],
    [['passed', 'failed'], {}, false],
    [['passed', 'failed'], { passRate: 0.5 }, true],
    [['passed', 'vetoed', 'broken', 'passed'], { passRate: 0.51 }, false],
    [['passed', 'unjudged'], {}, true],
    [['passed', 'unjudged'], { isStrict: true }, false],
    [['unjudged'], { passRate: 0 }, false],
    [['passed', 'passed'], { isConfident: true, passRate: 0.35 }, false],
    [['passed', 'passed'], { isConfident: true, passRate: 0.34 }, true],
  ] as const)('of the runs %j with %j: has passed is %s', (verdicts, options, isPassed) => {
    expect(resultOf(verdicts, options).isPassed).toBe(isPassed);
  });

  it('is lines, data and a case', () => {
    const result = resultOf(['passed', 'failed', 'unjudged']);
    expect(resultLines(result, false).join('\n')).toContain('FAILED  desk.yaml:4  greets');
    expect(resultLines(result, false).join('\n')).toContain('1 of 2 (1 unjudged) passed, 50 % (9 % to 91 %), wanted 90 %');
    expect(resultLines(result, false).join('\n')).toContain('7 tokens, price 2.0000');
    expect(evalData(result)).toMatchObject({ name: 'greets', passed: 1, rate: 0.5, counted: 2, cost: 2, isPassed: false });
    expect(junitCase(result)).toMatchObject({ file: 'desk.yaml', title: 'greets', tookMs: 1500, failure: { place: 'desk.yaml:4' } });
    expect(junitCase(resultOf(['passed'])).failure).toBeUndefined();
  });

  it('is a page in which words are no markup, with links to recordings', () => {
    const page = evalPage([resultOf(['passed', 'failed'])], process.cwd());
    expect(page).toContain('<dd>&lt;b&gt;Hi&lt;/b&gt;</dd>');
    expect(page).toContain('<a href="rec/a%20b.wav">recording</a>');
    expect(page).toContain('<details open><summary>Run 2: <span class="failed">failed</span>, hung up</summary>');
    expect(page).not.toContain('<b>Hi');
  });
});

it('draws the same for the same seed', async () => {
  const course = [[HELLO], [HELLO, BOOKED], [HELLO, BOOKED, reply(3, 'Yes?')]];
  const drawn = async (seed: number) =>
    (await held(caller('a', 'b', 'c').model, course, { interrupts: 0.9, random: seededNumbers(seed) })).steps.map(
      (step) => step.interruptMs,
    );
  expect(await drawn(1)).toEqual(await drawn(1));
  expect(await drawn(1)).not.toEqual(await drawn(2));
});
