// Orders of events that the model-based test (test/model) found, each as small as it can be.
import { describe, expect, it } from 'vitest';
import { throughJson, type JsonObject } from '../../../src/base/json.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { PromptAudio } from '../../../src/dialog/output.ts';
import type { Sound } from '../../../src/session/ports.ts';
import { firstSnapshot } from '../../../src/session/snapshot/snapshot.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { stuckBot } from '../../support/stuck-bot.ts';

const { transfer: transferPrompt } = TEST_SETTINGS.lines;
const KEY = { organizationId: 'org', conversationId: 'call-1' };
const FRAME = { kind: 'audio', audio: new Uint8Array(160).fill(0xff) } as const;
const LONG_MS = 20_000;
const PIECE: PromptAudio = { mulaw: new Uint8Array(800).fill(0x55), durationMs: 100 };

const told: string[] = [];
/** Ends the call on key 9 and is notified of turns and of the end. */
const plain = bot<null>({
  id: 'plain',
  name: 'Plain',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  dtmf_input: (_state, { digits }) => (digits === '9' ? go(null, say('Bye.').end()) : go(null, say(`Key ${digits}.`).listen())),
  otherwise: () => go(null, say('Yes?').listen()),
  turn_started: () => {
    told.push('turn_started');
  },
  session_end: () => {
    told.push('session_end');
  },
});

/** A voice that makes the sound of one text only when the test says so. */
class HeldVoice extends FakeVoice {
  readonly #held: string;
  release: () => void = () => undefined;

  constructor(held: string) {
    super();
    this.#held = held;
  }

  override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
    const sound = super.render(prompt);
    if (prompt.kind !== 'text' || prompt.text !== this.#held || sound instanceof Promise) return sound;
    return new Promise<Sound>((resolve) => {
      this.release = () => {
        resolve(sound);
      };
    });
  }
}

describe('a call that we end', () => {
  it('G-77 goes out in place of the reply that was being spoken', async () => {
    const voice = new HeldVoice('Key 1.');
    const { sessions, clock, seen } = await testEngine([plain], { voice });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const closing = sessions.close(1000);
    await clock.advanceAsync(LONG_MS);
    voice.release();
    await closing;
    expect(sink.texts).toEqual([transferPrompt]);
    expect(sink.next).toMatchObject({ kind: 'transfer' });
    expect(seen.filter((event) => event.startsWith('session_ended'))).toEqual(['session_ended shutdown']);
  });

  it('G-77 goes out on a turn whose input waits behind another', async () => {
    const voice = new HeldVoice('Key 1.');
    const { sessions, clock } = await testEngine([plain], { voice, settings: { maxDurationMs: 50_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(59_000);
    const older = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const newer = await call.open({ kind: 'no_input' });
    await clock.advanceAsync(LONG_MS);
    expect(older.sink.isSuperseded).toBe(true);
    expect(newer.sink.texts).toEqual([transferPrompt]);
    expect(newer.sink.end).toBe('complete');
  });

  it('speaks the line of the hand-over on the newest of three turns, and keeps it from one that was completed', async () => {
    const { sessions, clock } = await testEngine([stuckBot], { settings: { maxDurationMs: 50_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(59_900);
    const older = [await call.open({ kind: 'no_input' }), await call.open({ kind: 'no_input' })];
    const newest = await call.open({ kind: 'no_input' });
    await clock.advanceAsync(LONG_MS);
    expect(older.map(({ sink }) => sink.isSuperseded)).toEqual([true, true]);
    expect(newest.sink.texts).toEqual([transferPrompt]);
  });

  it('takes no half-close and no input on the turn that transfers at its end', async () => {
    const voice = new HeldVoice(transferPrompt);
    const { sessions, clock } = await testEngine([plain], { voice, settings: { maxDurationMs: 50_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open(FRAME);
    await clock.advanceAsync(60_000);
    turn.push({ kind: 'no_input' });
    turn.halfClose();
    await flushMicrotasks();
    expect(sink.end).toBe('open');
    voice.release();
    await clock.advanceAsync(LONG_MS);
    expect(sink.texts).toEqual([transferPrompt]);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'too_long' } });
  });

  it('is transferred on the turn that came when the one before was cancelled', async () => {
    const { sessions, clock } = await testEngine([stuckBot], { settings: { maxDurationMs: 50_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(59_900);
    const first = await call.open({ kind: 'no_input' });
    await clock.advanceAsync(100);
    first.turn.abort('hang_up');
    const second = await call.open(FRAME);
    await clock.advanceAsync(LONG_MS);
    expect(first.sink.kinds).toEqual([]);
    expect(second.sink.texts).toEqual([transferPrompt]);
  });
});

describe('an end that was decided', () => {
  it('G-77 is sent on the next turn when its own was cancelled, although the bot is notified of turns as well', async () => {
    const { sessions, clock } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const { turn } = await call.open({ kind: 'dtmf', digits: '9' });
    turn.abort('hang_up');
    await flushMicrotasks();
    expect((await call.turn({ kind: 'no_input' })).next).toMatchObject({ kind: 'end' });
    expect((await call.turn({ kind: 'no_input' })).isSuperseded).toBe(true);
  });
});

describe('after the end of a call', () => {
  it('G-75 notifies the bot of nothing more', async () => {
    told.length = 0;
    const { sessions } = await testEngine([plain]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.hangUp();
    await call.press('1');
    await flushMicrotasks();
    expect(told.at(-1)).toBe('session_end');
  });

  it('G-75 does not ask the bot about what was recognized too late', async () => {
    let recognized: (text: string) => void = () => undefined;
    const asked: string[] = [];
    const hearing = bot<null>({
      id: 'hearing',
      name: 'Hearing',
      version: 1,
      session_start: () => go(null, say('Welcome.').listen()),
      otherwise: (_state, { type }) => {
        asked.push(type);
        return go(null, say('Yes?').listen());
      },
    });
    const { sessions, clock } = await testEngine([hearing], {
      recognizer: {
        recognize: () =>
          new Promise((resolve) => {
            recognized = resolve;
          }),
      },
    });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const { turn, sink } = await call.open(FRAME);
    turn.heard('speech_started');
    turn.heard('speech_ended');
    await flushMicrotasks();
    await call.hangUp();
    recognized('too late');
    await flushMicrotasks();
    expect(asked).toEqual([]);
    expect(sink.end).toBe('complete');
  });
});

describe('a prompt whose sound comes in pieces', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('G-53 ends at once when the caller acts %i ticks after a piece was there', async (ticks) => {
    let next: (piece: PromptAudio) => void = () => undefined;
    class PieceVoice extends FakeVoice {
      override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
        return prompt.kind === 'text' && prompt.text === 'Key 1.' ? pieces() : super.render(prompt);
      }
    }
    async function* pieces(): AsyncGenerator<PromptAudio> {
      yield PIECE;
      yield await new Promise<PromptAudio>((resolve) => {
        next = resolve;
      });
    }
    const { sessions, clock } = await testEngine([plain], { voice: new PieceVoice() });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG_MS);
    const speaking = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const { turn } = await call.open();
    next(PIECE);
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    const heard = speaking.sink.outputs.length;
    turn.push({ kind: 'dtmf_start' });
    await flushMicrotasks();
    expect(speaking.sink.outputs.slice(heard).map(({ kind }) => kind)).toEqual(heard === 3 ? [] : ['final']);
  });
});

describe('a call that another process began', () => {
  it('has one session, also when a hang-up and a turn look for it at the same time', async () => {
    const call = { ...KEY, agentId: 'plain', startedAtMs: 0, vendorConfig: '', parameters: {} };
    const snapshot = { ...firstSnapshot({ call, bot: { id: 'plain', version: 1 }, mode: 'chunk' }), started: true };
    const restored = { snapshot: throughJson(snapshot) as JsonObject, generation: 1 };
    const { sessions, seen } = await testEngine([plain]);
    const opening = { ...KEY, agentId: '', vendorConfig: '', parameters: {}, restored };
    const [found, acquired] = await Promise.all([sessions.find(KEY, restored), sessions.acquire(opening)]);
    expect(found).toBe(acquired);
    expect(seen).toEqual(['session_continued']);
    expect(sessions.size).toBe(1);
  });
});
