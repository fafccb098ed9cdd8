// Bots that talk and do not come to an end: the caller hears something sane in bounded time, and nothing stays open behind them.
import { describe, expect, it } from 'vitest';
import { bot, go, play, say, type Saying } from '../../../src/bot/index.ts';
import type { PromptVoice } from '../../../src/session/ports.ts';
import { FakeVoice, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall, type MemorySink } from '../../support/memory-transport.ts';

const { turnDeadlineMs, slowReaderMs } = TEST_SETTINGS;
const { apology } = TEST_SETTINGS.lines;

/** A key makes it talk for ever, or until it has said `ends` things; `finish` runs when it is aborted. */
function endless(
  saying: (count: number) => Saying,
  { finish = () => Promise.resolve(), ends = 1e9 }: { readonly finish?: () => Promise<void>; readonly ends?: number } = {},
) {
  return bot<null>({
    id: 'endless',
    name: 'Endless',
    version: 1,
    session_start: () => go(null, say('Hi.').listen()),
    async *dtmf_input() {
      try {
        for (let count = 0; count < ends; count += 1) {
          yield saying(count);
          await Promise.resolve();
        }
      } finally {
        await finish();
      }
      return go(null, say('Never.').listen());
    },
    otherwise: () => go(null, say('Yes?').listen()),
  });
}

/** Welcomes in so many pieces, and when it is started again in one. */
function welcoming(pieces: number) {
  let left = pieces;
  return bot<null>({
    id: 'welcoming',
    name: 'Welcoming',
    version: 1,
    *session_start() {
      for (let piece = 0; left > 0; piece += 1, left -= 1) yield say(`Piece ${String(piece)}.`);
      return go(null, say('Well?').listen());
    },
    otherwise: () => go(null, say('Yes?').listen()),
  });
}

/** Every text takes three seconds to be made, less than what is given up. */
class SlowVoice extends FakeVoice implements PromptVoice {
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    super();
    this.#clock = clock;
  }

  override render(...[prompt]: Parameters<FakeVoice['render']>): ReturnType<PromptVoice['render']> {
    const sound = super.render(prompt);
    if (prompt.kind !== 'text' || prompt.text === apology || prompt.text === 'Hi.') return sound;
    return new Promise((resolve) => {
      this.#clock.after(3000, () => {
        resolve(sound);
      });
    });
  }
}

/** Has no sound for anything. */
class MuteVoice extends FakeVoice {
  override render(): undefined {
    return undefined;
  }
}

describe('a bot that speaks without end', () => {
  it('in sounds that take long to make is stopped in WAV mode at the deadline: nothing of them is heard before', async () => {
    const clock = new FakeClock();
    const talker = endless((count) => say(`Sentence ${String(count)}.`));
    const { sessions } = await testEngine([talker], { clock, voice: new SlowVoice(clock), settings: { mode: 'wav' } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(turnDeadlineMs);
    expect([sink.end, sink.texts.at(-1)]).toEqual(['complete', apology]);
    await sessions.close(0);
  });

  /** How much was said on a turn, ms. */
  const saidMs = ({ outputs }: MemorySink): number =>
    outputs.reduce((sum, output) => sum + (output.kind === 'prompt' ? output.prompt.audio.durationMs : 0), 0);

  it('is paused where it is too far ahead of its caller, goes on when there is room, and stops when the caller acts', async () => {
    const { sessions, clock, seen } = await testEngine([endless(() => say('La la la.'))], { settings: { maxAheadMs: 2000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const soundMs = 'La la la.'.length * 10;
    const startMs = clock.monotonicMs();
    const aheadMs = (): number => saidMs(sink) - (clock.monotonicMs() - startMs);
    for (let waits = 0; waits < 100; waits += 1) {
      expect(aheadMs()).toBeGreaterThan(2000 - soundMs);
      expect(aheadMs()).toBeLessThanOrEqual(2000 + 2 * soundMs);
      await clock.advanceAsync(700);
    }
    expect(sink.kinds.filter((kind) => kind === 'prompt').length).toBeGreaterThan(700);
    const next = call.press('1');
    await clock.advanceAsync(1000);
    expect([sink.end, sink.next?.kind]).toEqual(['complete', 'listen']);
    await call.hangUp();
    await next;
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
    await sessions.close(0);
  });

  it('in its welcome goes on to its end where the caller cuts it, which is no failure of the bot', async () => {
    const { sessions, clock, seen } = await testEngine([welcoming(400)], { settings: { maxAheadMs: 2000 } });
    const call = new MemoryCall(sessions);
    const welcome = call.start();
    await flushMicrotasks();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await welcome;
    await sink.ended();
    expect([sink.texts, seen.filter((event) => event.startsWith('bot_failed'))]).toEqual([['Yes?'], []]);
    await call.hangUp();
    await sessions.close(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('in its welcome has until its deadline where the caller cuts it, and the process does other things meanwhile', async () => {
    const { sessions, clock, seen } = await testEngine([welcoming(Infinity)], { settings: { maxAheadMs: 2000 } });
    const call = new MemoryCall(sessions);
    const welcome = call.start();
    await flushMicrotasks();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(turnDeadlineMs);
    await welcome;
    expect(seen).toContain('bot_failed bot_timeout');
    await call.hangUp();
    await sink.ended();
    await sessions.close(0);
  });

  it('but comes to its end is paused no longer once the server stops: the rest of its reply is sent within the grace time', async () => {
    const talker = endless((count) => (count < 50 ? say('La la la.') : say('The end.')), { ends: 51 });
    const { sessions, clock, seen } = await testEngine([talker], { settings: { maxAheadMs: 2000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect([sink.end, sink.texts.length]).toEqual(['open', 24]);
    const closed = sessions.close(6000);
    await clock.advanceAsync(0);
    expect([sink.end, sink.next?.kind, sink.texts.length, sink.texts.at(-2)]).toEqual(['complete', 'listen', 52, 'The end.']);
    await clock.advanceAsync(20_000);
    await closed;
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('in sounds is sent no more than twenty minutes of them while the server stops, and transferred', async () => {
    const { sessions, clock } = await testEngine([endless(() => say('La '.repeat(600)))], { settings: { maxAheadMs: 20_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const closed = sessions.close(6000);
    await clock.advanceAsync(2999);
    expect([sink.end, Math.floor(saidMs(sink) / 60_000)]).toEqual(['open', 20]);
    await clock.advanceAsync(20_000);
    expect(await closed).toEqual({ turns: 1, calls: 0 });
    expect([sink.end, sink.next?.kind]).toEqual(['complete', 'transfer']);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['in WAV mode', { mode: 'wav' }, () => say('La la la.')],
    ['in texts without a sound', {}, () => say('La la la.')],
    ['in recordings that cannot be played', {}, () => play('missing.wav')],
  ] as const)('fails %s, where nothing is heard before the end', async (_how, settings, saying) => {
    const voice = 'mode' in settings ? new FakeVoice() : new MuteVoice();
    const { sessions, seen } = await testEngine([endless(saying)], { settings: { ...settings, maxAheadMs: 2000 }, voice });
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('1')).texts.at(-1)).toBe(apology);
    expect(seen).toContain('bot_failed reply_too_long');
  });

  it('and does not stop when it is aborted frees the call when its reader is gone', async () => {
    const stubborn = endless(() => say('La.'), { finish: () => new Promise(() => undefined) });
    const { sessions, clock } = await testEngine([stubborn]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { turn, sink } = await call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(slowReaderMs);
    expect(sink.end).toMatchObject({ code: 'slow_reader' });
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual(['Yes?']);
  });
});
