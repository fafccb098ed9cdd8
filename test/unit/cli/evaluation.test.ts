// Evaluations with callers, assistants and judges whose words are written down.
import { describe, expect, it } from 'vitest';
import { assistant, tool, z, type LanguageModel } from '../../../src/ai/index.ts';
import { evaluate, type EvaluationOptions } from '../../../src/cli/evaluation/index.ts';
import { parts } from '../../support/written-model.ts';

/** A model whose answer depends on the last message, and on the instructions. */
function answering(words: (last: string, instructions: string) => string | { use: string; input?: object } | undefined): LanguageModel {
  return {
    ...{ specificationVersion: 'v3', provider: 'test', modelId: 'test' },
    doStream: ({ prompt }) => {
      const texts = prompt.map((message) => JSON.stringify(message));
      const given = words(texts.at(-1) ?? '', texts[0] ?? '');
      return given === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve({ stream: parts(given) });
    },
  };
}

const booked: string[] = [];
const book = tool({ description: 'Books', input: z.object({ day: z.string() }), run: ({ day }) => `booked ${String(booked.push(day))}` });

const desk = (model: LanguageModel) =>
  assistant({ id: 'desk', name: 'Desk', model, instructions: 'You book.', greeting: 'Hello. Which day?', tools: { book } });

const GOOD = answering((last) => (last.includes('booked') ? 'It is booked.' : { use: 'book', input: { day: 'tuesday' } }));
const CALLER = answering((last) => (last.includes('It is booked') ? 'Great, thank you. [hang up]' : 'Tuesday, please.'));

const persona = { model: CALLER, brief: 'Friendly.', goal: 'An appointment.' };

async function verdictsOf(model: LanguageModel, options: Partial<EvaluationOptions> = {}) {
  const { runs } = await evaluate(desk(model), { persona, runs: 1, ...options });
  return runs.map(({ verdict, why }) => [verdict, ...why]);
}

describe('an evaluation', () => {
  it('lets callers talk until they have what they want, and says how sure the rate is', async () => {
    const seen: string[] = [];
    const evaluated = await evaluate(desk(GOOD), {
      ...{ persona, runs: 8, expect: { ends: 'hung_up', tools: { book: 1 }, says: ['it is booked'], saysNot: [/sorry/i] } },
      onRun: ({ verdict }) => seen.push(verdict),
    });
    expect(seen).toEqual(Array.from({ length: 8 }, () => 'passed'));
    expect(evaluated).toMatchObject({ passed: 8, rate: 1, interval: { high: 1 } });
    expect(evaluated.interval.low).toBeCloseTo(0.676, 3);
    expect(evaluated.runs[0]).toMatchObject({
      lines: [
        { by: 'bot', text: 'Hello. Which day?' },
        { by: 'caller', text: 'Tuesday, please.' },
        { by: 'bot', text: 'It is booked.' },
      ],
      tools: [{ tool: 'book', input: { day: 'tuesday' } }],
    });
  });

  it('says of each run what was not as expected, with its transcript', async () => {
    const expectations = {
      ends: 'transferred',
      tools: { book: 2, look: { with: { day: 'x' } } },
      toolsNot: ['book'],
      says: ['goodbye'],
    } as const;
    const evaluated = await evaluate(desk(GOOD), { persona, runs: 1, expect: expectations });
    expect(evaluated.runs[0]?.why).toEqual([
      'it should be transferred and was hung_up',
      'book should be used 2 times and was used once',
      'look should be used and was not',
      'book should not be used',
      'the bot should say goodbye',
    ]);
    expect(String(evaluated)).toContain('run 1 failed: it should be transferred');
    expect(String(evaluated)).toContain('  caller  Tuesday, please.');
  });

  it.each([
    [{ tools: { book: { times: 1, with: { day: '/^TUES/i' } } } }, []],
    [{ tools: { book: { with: { day: 'friday' } } } }, ['book should be used with {"day":"friday"} and was used with {"day":"tuesday"}']],
    [{ tools: { book: {} }, answerP95BelowMs: 60_000, gapBelowMs: 1 }, []],
    [{ answerP95BelowMs: 0.001 }, [expect.stringMatching(/^95 of 100 answers should come within 0.001 ms and take \d+ ms$/u)]],
  ])('holds a run against %j', async (expectations, why) => {
    const { runs } = await evaluate(desk(GOOD), { persona, runs: 1, expect: expectations });
    expect(runs[0]?.why).toEqual(why);
  });

  it('ends a caller who never has enough', async () => {
    const endless = { ...persona, model: answering(() => 'And then?') };
    const { runs } = await evaluate(desk(GOOD), { persona: endless, runs: 1, maxTurns: 3, expect: { ends: 'ended' } });
    expect(runs[0]).toMatchObject({ end: 'too_long', verdict: 'failed' });
    expect(runs[0]?.lines.filter(({ by }) => by === 'caller')).toHaveLength(3);
  });

  it('lets callers interrupt, who then know only what they heard', async () => {
    const heard: string[] = [];
    const model = answering((last) => {
      heard.push(last);
      return heard.length > 3 ? '[hang up]' : 'Tuesday.';
    });
    await evaluate(desk(GOOD), { persona: { ...persona, model, interrupts: 1 }, runs: 1 });
    expect(heard[1]).toMatch(/—/u);
    expect(heard[1]).not.toContain('It is booked.');
  });

  it('lets a caller press keys', async () => {
    const model = answering((last) => (last.includes('keys pressed') || last.includes('Yes') ? '[hang up]' : '[keys 12]'));
    const { runs } = await evaluate(desk(answering(() => 'Yes.')), { persona: { ...persona, model }, runs: 1 });
    expect(runs[0]?.lines.map(({ text }) => text)).toEqual(['Hello. Which day?', '[keys 12]', 'Yes.']);
  });

  const judge = (answer: (instructions: string) => string | undefined) => ({
    model: answering((_last, instructions) => answer(instructions)),
    veto: ['The bot is rude.', 'The bot promised what no tool returned.'],
  });

  it('lets a judge veto what has passed, and never rescue what has not', async () => {
    const rude = judge((asked) => (asked.includes('rude') ? 'YES: "Which day?"' : 'no'));
    expect(await verdictsOf(GOOD, { judge: rude })).toEqual([['vetoed', 'The bot is rude. "Which day?"']]);
    expect(await verdictsOf(GOOD, { judge: judge(() => 'No.') })).toEqual([['passed']]);
    const unmet = await verdictsOf(GOOD, { judge: judge(() => 'no'), expect: { ends: 'ended' } });
    expect(unmet).toEqual([['failed', 'it should be ended and was hung_up']]);
  });

  it('counts the votes of a judge', async () => {
    let asked = 0;
    const unsure = judge(() => ((asked += 1) % 3 === 0 ? 'YES: "It is booked."' : 'NO'));
    expect(await verdictsOf(GOOD, { judge: { ...unsure, votes: 3 } })).toEqual([['passed']]);
    expect(asked).toBe(6);
  });

  it.each([
    ['unjudged', { judge: judge(() => undefined) }, 'the judge failed'],
    ['unjudged', { judge: judge(() => 'I think that') }, 'the judge failed'],
    ['unjudged', { judge: judge(() => 'YES.') }, 'the judge failed'],
    ['broken', { persona: { ...persona, model: answering(() => undefined) } }, 'the model of the caller failed'],
  ] as const)('lets no run pass that is %s', async (verdict, options, why) => {
    expect(await verdictsOf(GOOD, options)).toEqual([[verdict, why]]);
  });

  it('refuses numbers that make no sense', async () => {
    await expect(evaluate(desk(GOOD), { persona, runs: 0 })).rejects.toThrow('a whole number of runs from 1, not 0');
  });
});
