// An assistant whose model is asked while the caller pauses: once for each input, and never where more than words decide.
import { describe, expect, it } from 'vitest';
import { pause } from '../../../src/base/abort.ts';
import { assistantStep, keyed, scripted, tool, z, type AssistantOptions } from '../../../src/ai/index.ts';
import type { ProviderCall } from '../../../src/ai/model.ts';
import type { BotContext } from '../../../src/bot/index.ts';
import type { Keep, Saying } from '../../../src/bot/saying.ts';
import type { TurnReport } from '../../../src/dialog/turn-report.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { recordingLog } from '../../support/engine.ts';

const CALL = {
  ...{ organizationId: 'org', conversationId: 'prepared-answer', agentId: 'desk', caller: undefined, parameters: {} },
  ...{ startedAtMs: 1_800_000_000_000, calledNumber: undefined, vendorConfig: '' },
};
const HEARD = { complete: true, ms: 1000, text: 'Hello.', parts: [{ text: 'Hello.', heard: 'Hello.', ms: 1000, complete: true }] };
const SPEECH = { type: 'speech_input', understood: 'words', heard: HEARD, utterance: { mulaw: new Uint8Array(0), durationMs: 0 } } as const;

function contextOf(signal = new AbortController().signal, clock = new FakeClock()): BotContext<unknown> {
  return { call: CALL, live: undefined, turnId: 'turn', signal, clock, log: recordingLog() };
}

function desk(options: Partial<AssistantOptions> & Pick<AssistantOptions, 'model'>) {
  const step = assistantStep({ instructions: 'You book.', greeting: 'Hello.', ...options });
  const { state } = step.begin(CALL);
  const answered = async (text: string, prepared: ReturnType<typeof step.prepare>, clock?: FakeClock) => {
    const said: string[] = [];
    const talk = step.turn(state, { ...SPEECH, text, prepared }, contextOf(undefined, clock), (next) => next);
    for (let next = await talk.next(); ; next = await talk.next()) {
      if (next.done === true) return { said, turn: next.value };
      said.push(...textsOf(next.value));
    }
  };
  return { step, state, answered };
}

function textsOf(yielded: Saying | Keep<unknown>): readonly string[] {
  return 'prompts' in yielded ? yielded.prompts.flatMap((prompt) => (prompt.kind === 'text' ? [prompt.text] : [])) : [];
}

describe('an assistant that is asked to prepare', () => {
  it('asks its model at once, and speaks that answer in the turn', async () => {
    const model = scripted('We are open until five. Come in.');
    const { step, state, answered } = desk({ model });
    const prepared = step.prepare(state, { text: 'When are you open?', heard: HEARD }, contextOf());
    expect(model.asked).toHaveLength(1);
    const { said, turn } = await answered('When are you open?', prepared);
    expect(said).toEqual(['We are open until five.', 'Come in.']);
    expect(model.asked).toHaveLength(1);
    expect(turn.state.messages.map(({ by }) => by)).toEqual(['assistant', 'caller', 'assistant']);
  });

  it('runs no tool before the turn', async () => {
    const ran: string[] = [];
    const book = tool({ description: 'Books', input: z.object({}), run: () => ran.push('book') });
    const { step, state, answered } = desk({ model: scripted({ use: 'book' }, 'Booked.'), tools: { book } });
    const prepared = step.prepare(state, { text: 'Book it.', heard: HEARD }, contextOf());
    await new Promise(setImmediate);
    expect(ran).toEqual([]);
    const { said } = await answered('Book it.', prepared);
    expect([ran, said]).toEqual([['book'], ['Booked.']]);
  });

  it('asks the second model in the turn when the first one fails', async () => {
    const fallback = scripted('Second.');
    const { step, state, answered } = desk({ model: scripted({ fails: 'error' }), fallback });
    const prepared = step.prepare(state, { text: 'Hello?', heard: HEARD }, contextOf());
    expect(fallback.asked).toHaveLength(0);
    expect((await answered('Hello?', prepared)).said).toEqual(['Second.']);
  });

  const used = (atMs: number) => ({ tools: [{ name: 'look', atMs, ms: 40, ok: true }] });
  const callsAt = (...times: readonly number[]) => times.map((atMs) => ({ model: 'scripted', atMs, ms: 250, tokensIn: 10, tokensOut: 5 }));
  it.each([
    ['how long before the turn', true, { preparedMs: 150, waitedMs: 100 + 250, ...used(100), calls: callsAt(-150, 140) }],
    ['nothing of that when it was not', false, { waitedMs: 250 + 250, ...used(250), calls: callsAt(0, 290) }],
  ] as const)(
    'reports %s it was asked, and what was waited for it and its tools until the first words',
    async (_what, isPrepared, report) => {
      const clock = new FakeClock();
      const model = scripted({ use: 'look' }, 'We are open until five. Come in.');
      const slow = {
        ...model,
        doStream: async (call: ProviderCall) => {
          await pause(250, clock);
          return model.doStream(call);
        },
      };
      const look = tool({ description: 'Looks', input: z.object({}), readOnly: true, run: () => pause(40, clock) });
      const reports: TurnReport[] = [];
      const { step, state, answered } = desk({ model: slow, tools: { look }, onTurn: (turn) => reports.push(turn) });
      const when = { text: 'When are you open?', heard: HEARD };
      const prepared = isPrepared ? step.prepare(state, when, contextOf(undefined, clock)) : undefined;
      await clock.advanceAsync(150);
      const answer = answered(when.text, prepared, clock);
      await clock.advanceAsync(1000);
      await answer;
      expect(reports).toMatchObject([report]);
      expect(reports[0]?.preparedMs).toBe(isPrepared ? 150 : undefined);
    },
  );

  it('stops with its signal', async () => {
    const model = scripted({ say: 'We are', fails: 'stall' });
    const { step, state } = desk({ model });
    const pause = new AbortController();
    step.prepare(state, { text: 'When?', heard: HEARD }, contextOf(pause.signal));
    pause.abort();
    await new Promise(setImmediate);
    expect(model.asked[0]?.abortSignal?.aborted).toBe(true);
  });

  it.each([
    ['its author wants to save tokens', { early: false }, {}],
    ['a tool runs', {}, { messages: [{ by: 'tool', id: 'use-1', tool: 'book', input: {} }] }],
    ['digits are asked for', {}, { keying: { use: 'use-1', tool: 'pin', tries: 1 } }],
    ['the call has used up its turns', { limits: { turns: 0 } }, {}],
  ] as const)('does not ask its model when %s', (_why, options, change) => {
    const model = scripted('No.');
    const pin = keyed({ description: 'Asks', ask: 'Your PIN?', digits: 4, use: () => 'right' });
    const { step, state } = desk({ model, tools: { pin }, ...options });
    expect(step.prepare({ ...state, ...change }, { text: 'Hello?', heard: HEARD }, contextOf())).toBeUndefined();
    expect(model.asked).toHaveLength(0);
  });
});
