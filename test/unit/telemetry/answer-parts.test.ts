// Where the time to a reply goes, on the real engine and to the millisecond: a clock that a test moves, and bots, voices and recognizers
// that take their time by it.
import { describe, expect, it } from 'vitest';
import { pause } from '../../../src/base/abort.ts';
import { bot, go, listen, say, type BotContext, type BotDefinition } from '../../../src/bot/index.ts';
import type { AnswerParts } from '../../../src/dialog/call-view.ts';
import type { Input } from '../../../src/dialog/input.ts';
import type { EngineSettings } from '../../../src/session/settings.ts';
import { answerParts, withWire } from '../../../src/telemetry/answer-parts.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { FakeVoice, testEngine } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const RECOGNIZER_MS = 60;
/** Of a text that is not cached. */
const SYNTHESIS_MS = 120;
const NEW = 'This was never said before.';
const NONE = { endpointingMs: 0, recognitionMs: 0, botMs: 0, modelMs: 0, toolsMs: 0, synthesisMs: 0, engineMs: 0 };
const REPORT = {
  ms: 900,
  tokensIn: 1,
  tokensOut: 1,
  model: 'm',
  isFallback: false,
  failures: [],
  fallbacks: [],
  isInterrupted: false,
} as const;

type Handlers = Partial<Pick<BotDefinition<null>, 'speech_input' | 'dtmf_input'>>;

/** A call that has begun, with the parts of its answers so far but the welcome's. */
async function begun(handlers: (wait: (ms: number) => Promise<boolean>) => Handlers, settings: Partial<EngineSettings> = {}) {
  const clock = new FakeClock();
  const wait = (ms: number) => pause(ms, clock);
  class SlowVoice extends FakeVoice {
    override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
      const sound = super.render(prompt);
      return prompt.kind === 'text' && prompt.text === NEW ? wait(SYNTHESIS_MS).then(() => sound) : sound;
    }
  }
  const recognizer = { recognize: () => wait(RECOGNIZER_MS).then(() => 'hello') };
  const told: AnswerParts[] = [];
  const observer = answerParts(clock, (_call, _turnId, parts) => told.push(parts));
  const talker = bot<null>({
    ...{ id: 'talker', name: 'Talker', version: 1 },
    session_start: () => go(null, say('Hi.').listen()),
    otherwise: () => go(null, say('What?').listen()),
    ...handlers(wait),
  });
  const { sessions } = await testEngine([talker], { clock, observer, settings, recognizer, voice: new SlowVoice() });
  const call = new MemoryCall(sessions);
  await call.start();
  clock.advance(5000);
  told.length = 0;
  const act = async (...inputs: readonly Input[]) => {
    const turn = call.turn(...inputs);
    await clock.advanceAsync(30_000);
    await turn;
  };
  return { told, act, call, clock };
}

const ONE = { kind: 'dtmf', digits: '1' } as const;

describe('the parts of the time to a reply', () => {
  it('are the silence of the caller, the recognizer, the handler and the sound', async () => {
    const { told, act } = await begun((wait) => ({ speech_input: async () => (await wait(30), go(null, say(NEW).listen())) }));
    await act(...WHOLE_SENTENCE);
    expect(told).toEqual([{ ...NONE, endpointingMs: 800, recognitionMs: RECOGNIZER_MS, botMs: 30, synthesisMs: SYNTHESIS_MS }]);
  });

  it('are nothing for keys and a cached prompt, and are not told of a reply without a sound', async () => {
    const { told, act } = await begun(() => ({
      dtmf_input: (_, { digits }) => go(null, digits === '1' ? say('Yes?').listen() : listen()),
    }));
    await act(ONE);
    await act({ kind: 'dtmf', digits: '2' });
    expect(told).toEqual([NONE]);
  });

  it('are those until the first words of a handler that goes on: model and tools that they waited for, and no later ones', async () => {
    const { told, act } = await begun((wait) => ({
      async *dtmf_input(_state, _event, { report }: BotContext) {
        await wait(40);
        yield say(NEW);
        await wait(860);
        const tools = [
          { name: 'look', atMs: 10, ms: 5, ok: true },
          { name: 'book', atMs: 500, ms: 400, ok: true },
        ];
        report?.({ ...REPORT, waitedMs: 30, tools });
        return go(null, listen());
      },
    }));
    await act(ONE);
    expect(told).toEqual([{ ...NONE, botMs: 5, modelMs: 30, toolsMs: 5, synthesisMs: SYNTHESIS_MS }]);
  });

  it('never exceed what the first words waited for, whatever a bot reports', async () => {
    const { told, act } = await begun((wait) => ({
      async *dtmf_input(_state, _event, { report }: BotContext) {
        yield say('Yes.');
        await wait(900);
        report?.({ ...REPORT, waitedMs: 700, tools: [{ name: 'of an older package', ms: 50, ok: true }] });
        return go(null, listen());
      },
    }));
    await act(ONE);
    expect(told).toEqual([NONE]);
  });

  it('count the sound from the end of the handler where all prompts travel with the final', async () => {
    const { told, act } = await begun(
      (wait) => ({
        async *dtmf_input() {
          await wait(10);
          yield say(NEW);
          await wait(40);
          return go(null, listen());
        },
      }),
      { mode: 'wav' },
    );
    await act(ONE);
    expect(told).toEqual([{ ...NONE, botMs: 50, synthesisMs: SYNTHESIS_MS - 40 }]);
  });

  it('are the bot’s until an apology for a handler that hangs', async () => {
    const { told, act } = await begun((wait) => ({ dtmf_input: async () => (await wait(60_000), go(null, listen())) }), {
      turnDeadlineMs: 2000,
    });
    await act(ONE);
    expect(told).toEqual([{ ...NONE, botMs: 2000 }]);
  });

  it('have the wait behind an earlier input as the engine’s', async () => {
    const { told, act, call, clock } = await begun((wait) => ({
      dtmf_input: async (_, { digits }) => {
        if (digits === '1') await wait(60_000);
        return go(null, say('Yes?').listen());
      },
    }));
    await call.open(ONE);
    await clock.advanceAsync(100);
    await act({ kind: 'dtmf', digits: '2' });
    // The grace of a handler that is interrupted.
    expect(told).toEqual([{ ...NONE, engineMs: 300 }]);
  });

  it('get the wire from whoever knows both ends', () => {
    expect(withWire(NONE, 1_800_000_000_100, 1_800_000_000_140)).toEqual({ ...NONE, wireMs: 40 });
    expect(withWire(NONE, 1_800_000_000_100, 1_800_000_000_099)).toEqual({ ...NONE, wireMs: 0 });
  });
});
