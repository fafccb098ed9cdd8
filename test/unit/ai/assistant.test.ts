import { describe, expect, it } from 'vitest';
import { assistant, scripted, tool, z, type AssistantBotOptions, type ScriptedAnswer, type TurnReport } from '../../../src/ai/index.ts';
import { TestCall } from '../../../src/bot/testing.ts';

function desk(
  answers: readonly ScriptedAnswer[],
  options: Partial<AssistantBotOptions> = {},
): { call: TestCall; model: ReturnType<typeof scripted> } {
  const model = scripted(...answers);
  const bot = assistant({ id: 'desk', name: 'Desk', model, instructions: 'You book.', greeting: 'Hello.', transfer: true, ...options });
  return { call: new TestCall(bot), model };
}

function promptOf(model: ReturnType<typeof scripted>, index: number): string {
  return JSON.stringify(model.asked[index]?.prompt);
}

describe('an assistant', () => {
  it('greets without its model and answers with it, sentence by sentence', async () => {
    const { call, model } = desk(['Of course I can. When would you like to come?']);
    (await call.start()).hears('Hello.');
    expect(model.asked).toEqual([]);
    await call.speak('an appointment please');
    expect(call.prompts.map((prompt) => (prompt.kind === 'text' ? prompt.text : ''))).toEqual([
      'Of course I can.',
      'When would you like to come?',
    ]);
    expect(call.reply.next.kind).toBe('listen');
    expect(promptOf(model, 0)).toContain('an appointment please');
    expect(promptOf(model, 0)).toContain('Hello.');
  });

  it('runs a tool once and lets the model read what came of it', async () => {
    const booked: string[] = [];
    const book = tool({
      description: 'Books',
      input: z.object({ slot: z.string() }),
      run: ({ slot }, { useId }) => {
        booked.push(`${slot} ${useId}`);
        return { number: 7 };
      },
    });
    const { call, model } = desk([{ use: 'book', input: { slot: 'Tuesday' } }, 'It is booked.'], { tools: { book } });
    await (await call.start()).speak('Tuesday please');
    call.hears('It is booked.');
    expect(booked).toEqual([expect.stringMatching(/^Tuesday .*-1$/u)]);
    expect(promptOf(model, 1)).toContain('{\\"number\\":7}');
  });

  it('gives the next turn the outcome of a tool that the caller interrupted', async () => {
    let finish: (value: { number: number }) => void = () => undefined;
    const running = new Promise<{ number: number }>((resolve) => {
      finish = resolve;
    });
    const book = tool({ description: 'Books', input: z.object({}), says: 'One moment.', run: () => running });
    const { call, model } = desk([{ use: 'book' }, 'It is booked.'], { tools: { book } });
    await call.start();
    const step = call.speak('Tuesday please');
    await call.interrupt('speech', { text: 'One moment.', ms: 600 });
    await step;
    finish({ number: 7 });
    (await call.speak('and now?')).hears('It is booked.');
    expect(model.asked).toHaveLength(2);
    expect(promptOf(model, 1)).toContain('{\\"number\\":7}');
    expect(promptOf(model, 1)).toContain('and now?');
  });

  it('stops a tool that changes nothing when the caller interrupts', async () => {
    let isStopped = false;
    const look = tool({
      description: 'Looks',
      input: z.object({}),
      readOnly: true,
      run: (_, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => {
            isStopped = true;
            resolve('late');
          });
        }),
    });
    const { call, model } = desk([{ use: 'look' }, 'Yes.'], { tools: { look } });
    await call.start();
    const step = call.speak('is Tuesday free?');
    await call.interrupt();
    await step;
    expect(isStopped).toBe(true);
    await call.speak('hello?');
    expect(promptOf(model, 1)).toContain('stopped: the caller interrupted');
  });

  it('keeps in its history what was heard, and not what was written', async () => {
    const { call, model } = desk(['There is Tuesday at nine. There is also Wednesday at ten.', 'Good.']);
    await (await call.start()).speak('what is free?');
    await call.interrupt('speech', { text: 'There is Tuesday at nine. There is', ms: 2000 });
    await call.speak('Tuesday');
    expect(promptOf(model, 1)).toContain('There is Tuesday at nine. There is —');
    expect(promptOf(model, 1)).not.toContain('Wednesday');
  });

  it('asks the second model when the first one fails before its first word', async () => {
    const fallback = scripted('From the second.');
    const turns: TurnReport[] = [];
    const { call } = desk([{ fails: 'error' }], { fallback, onTurn: (turn) => turns.push(turn) });
    (await (await call.start()).speak('hello')).hears('From the second.');
    expect(turns).toMatchObject([
      { isFallback: true, failures: ['error'], fallbacks: ['error'], calls: [{ failure: 'error' }, { tokensIn: 10 }] },
    ]);
  });

  it('asks the second model when the first one says nothing in time, and nobody when it stops in the middle', async () => {
    const { call } = desk([{ fails: 'stall' }, { say: 'There is one on Tuesday. And', fails: 'stall' }], {
      ...{ fallback: scripted('From the second.'), limits: { firstTokenMs: 100, stallMs: 100 } },
    });
    (await (await call.start()).speak('hello')).hears('From the second.');
    (await call.speak('when?')).hears(/There is one on Tuesday\. Sorry, I lost my thread/u);
  });

  it('says that it lost its thread when both fail, and transfers the caller the second time', async () => {
    const { call } = desk([{ fails: 'error' }, { fails: 'cut' }]);
    (await (await call.start()).speak('hello')).hears('Sorry, I lost my thread.');
    (await call.speak('hello')).transferred({ reason: 'the model failed' });
  });

  it('does not ask the second model for what the caller has heard of the first', async () => {
    const fallback = scripted('From the second.');
    const { call } = desk([{ say: 'There is one on Tuesday. And', fails: 'cut' }], { fallback });
    (await (await call.start()).speak('hello')).hears(/There is one on Tuesday\. Sorry/u);
    expect(fallback.asked).toEqual([]);
  });

  it.each([
    ['a tool that is not there', { use: 'fly' }, 'there is no tool named fly'],
    ['input that breaks the schema', { use: 'book', input: { slot: 3 } }, 'wrong input: slot'],
  ] as const)('reports %s to the model', async (_, use, told) => {
    const book = tool({ description: 'Books', input: z.object({ slot: z.string() }), run: () => null });
    const { call, model } = desk([use, 'Sorry.'], { tools: { book } });
    await (await call.start()).speak('go');
    expect(promptOf(model, 1)).toContain(told);
  });

  it('reports a failed tool to the model, without the message of the error', async () => {
    const book = tool({
      description: 'Books',
      input: z.object({}),
      run: () => {
        throw new Error('secret 4711');
      },
    });
    const { call, model } = desk([{ use: 'book' }, 'Sorry.'], { tools: { book } });
    await (await call.start()).speak('go');
    expect(promptOf(model, 1)).toContain('the tool failed');
    expect(promptOf(model, 1)).not.toContain('4711');
  });

  it('tells the model that a tool took too long', async () => {
    const book = tool({ description: 'Books', input: z.object({}), limitMs: 20, run: () => new Promise<null>(() => undefined) });
    const { call, model } = desk([{ use: 'book' }, 'Sorry.'], { tools: { book } });
    await (await call.start()).speak('go');
    expect(promptOf(model, 1)).toContain('the tool took too long');
  });

  it('ends a model that uses tools without end', async () => {
    const look = tool({ description: 'Looks', input: z.object({}), readOnly: true, run: () => 'nothing' });
    const turns: TurnReport[] = [];
    const { call, model } = desk(
      Array.from({ length: 9 }, () => ({ use: 'look' })),
      { tools: { look }, limits: { rounds: 3 }, onTurn: (turn) => turns.push(turn) },
    );
    (await (await call.start()).speak('go')).hears('Sorry, I lost my thread.');
    expect(model.asked).toHaveLength(3);
    expect(turns).toMatchObject([{ usedUp: 'rounds' }]);
  });

  it.each([
    [{ turns: 1 }, 'turns', 'the call took too many turns'],
    [{ tokens: 10 }, 'tokens', 'the call took too many tokens'],
    [{ seconds: -1 }, 'seconds', 'the call took too long'],
  ] as const)('transfers the caller when %j is used up, and says why', async (limits, usedUp, reason) => {
    const turns: TurnReport[] = [];
    const { call } = desk(['Yes?'], { limits, onTurn: (turn) => turns.push(turn) });
    await call.start();
    if (usedUp !== 'seconds') await call.speak('hello');
    (await call.speak('and now?')).hears('I will connect you to a colleague.').transferred({ reason });
    expect(turns.at(-1)).toMatchObject({ usedUp, tools: [] });
  });

  it('transfers with the reason and the summary of the model', async () => {
    const { call } = desk([{ say: 'I will get somebody.', use: 'transfer', input: { reason: 'angry', summary: 'wants a refund' } }]);
    (await (await call.start()).speak('a human!')).transferred({ reason: 'angry', summary: 'wants a refund' });
    call.hears('I will get somebody.');
  });

  it('gives the model no way to another routing hint than that of its author', async () => {
    const { call } = desk([{ use: 'transfer', input: { reason: 'x', summary: 'y', routingHint: 'vip' } }], {
      transfer: { to: () => ({ reason: 'asked', routingHint: 'front-desk' }) },
    });
    (await (await call.start()).speak('send me to vip')).transferred({ routingHint: 'front-desk' });
  });

  it('hangs up when the model says so', async () => {
    const { call } = desk([{ say: 'Goodbye.', use: 'end_call' }]);
    (await (await call.start()).speak('bye')).ended('completed').hears('Goodbye.');
  });

  it('asks twice whether somebody is there, and then ends the call', async () => {
    const { call } = desk([]);
    (await (await call.start()).silence()).hears('Are you still there?');
    await call.silence();
    (await call.silence()).ended('no_input');
  });

  it('says that it heard nothing when no recognizer works, and transfers the caller the second time', async () => {
    const { call } = desk([]);
    (await (await call.start()).speak()).hears('I could not hear you');
    (await call.speak()).transferred();
  });

  it('asks again when a sound had no words, without the model', async () => {
    const { call, model } = desk([]);
    (await (await call.start()).speak(undefined, { understood: 'nothing' })).hears('Sorry, I did not catch that.');
    expect(model.asked).toEqual([]);
  });

  it('lets an author redact what the caller says, and check what the model says', async () => {
    const { call, model } = desk(['Your code is secret. Bye now, friend.'], {
      redact: (text) => text.replace(/\d/gu, '#'),
      check: (sentence) => (sentence.includes('secret') ? undefined : sentence),
    });
    (await (await call.start()).speak('my card is 4111')).hears('Sorry, I lost my thread.');
    expect(promptOf(model, 0)).toContain('my card is ####');
    expect(JSON.stringify(call.state)).not.toContain('4111');
  });

  it('goes on in another process and does not know what came of a tool there', async () => {
    const book = tool({ description: 'Books', input: z.object({}), run: () => new Promise<null>(() => undefined) });
    const { call } = desk([{ use: 'book' }], { tools: { book } });
    await call.start();
    const step = call.speak('go');
    await call.interrupt();
    await step;
    expect(JSON.stringify(call.kept.at(-1))).toContain('"tool":"book"');
  });

  it('reports each turn in numbers, and the call when it has ended', async () => {
    const turns: unknown[] = [];
    const ends: unknown[] = [];
    const { call } = desk([{ say: 'Goodbye.', use: 'end_call' }], {
      onTurn: (turn) => turns.push(turn),
      onEnd: (end) => ends.push(end),
    });
    await (await call.start()).speak('bye');
    expect(turns).toEqual([
      expect.objectContaining({ tokensIn: 10, tokensOut: 5, model: 'scripted', isFallback: false, tools: [], fallbacks: [] }),
    ]);
  });

  it.each([[undefined], ['vendor/model'], [{ specificationVersion: 'v2', doStream: () => undefined }]])(
    'refuses %j as a model',
    (model) => {
      expect(() => assistant({ id: 'a', name: 'A', model: model as never, instructions: '', greeting: 'x' })).toThrow(
        'needs a model object',
      );
    },
  );
});
