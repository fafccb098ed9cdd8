// Callers who act again while the bot still thinks: they are answered in bounded time, and nothing they say is lost.
import { describe, expect, it } from 'vitest';
import { answerLimitMs } from '../../../src/session/answer/deadline.ts';
import { bot, go, listen, say } from '../../../src/bot/index.ts';
import { testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { joined, recorded, silence } from '../../support/line-signals.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { turnDeadlineMs } = TEST_SETTINGS;
const { apology, transfer: transferPrompt } = TEST_SETTINGS.lines;

describe('the limit over all questions without an answer', () => {
  it('gives the first the whole deadline, later ones what is left of one and a half, and the newest a second', () => {
    expect(answerLimitMs(0, 10_000)).toBe(10_000);
    expect(answerLimitMs(4300, 10_000)).toBe(10_000);
    expect(answerLimitMs(9300, 10_000)).toBe(5700);
    expect(answerLimitMs(14_900, 10_000)).toBe(1000);
    expect(answerLimitMs(30_000, 500)).toBe(500);
  });
});

describe('a bot that hangs', () => {
  it.each([400, 2000, 5000])('and a caller who presses a key every %i ms: an apology in time, then a person', async (everyMs) => {
    const hung = bot<null>({
      id: 'hung',
      name: 'Hung',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      dtmf_input: () => new Promise<never>(() => undefined),
      otherwise: () => go(null, say('?').listen()),
    });
    const { sessions, clock, seen } = await testEngine([hung]);
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(2000);
    const heard: { readonly text: string | undefined; readonly afterMs: number }[] = [];
    const beganMs = clock.monotonicMs();
    let lastMs = beganMs;
    while (heard.at(-1)?.text !== transferPrompt && clock.monotonicMs() - beganMs < 60_000) {
      const turn = await call.open({ kind: 'dtmf', digits: '1' });
      turn.turn.halfClose();
      // A caller who does not stop for a second is not waiting.
      await clock.advanceAsync(clock.monotonicMs() - lastMs > 12_000 ? 1500 : everyMs);
      for (const text of turn.sink.texts) {
        heard.push({ text, afterMs: clock.monotonicMs() - lastMs });
        lastMs = clock.monotonicMs();
      }
    }
    expect(heard.map(({ text }) => text)).toEqual([apology, transferPrompt]);
    for (const { afterMs } of heard) expect(afterMs).toBeLessThanOrEqual(turnDeadlineMs * 1.5 + 2 * everyMs + 1500);
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toHaveLength(2);
    await sessions.close(0);
  });
});

describe('a welcome that speaks and then works', () => {
  it('is not begun again by a caller who keys over it, and the digits reach the bot', async () => {
    const events: string[] = [];
    let finish: () => void = () => undefined;
    let wasStopped = false;
    const busy = bot<{ readonly isReady: boolean }>({
      id: 'busy',
      name: 'Busy',
      version: 1,
      async *session_start(_, { signal }) {
        events.push('session_start');
        yield say('Welcome to the line, please enter your number.');
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        wasStopped = signal.aborted;
        yield say('And another word.');
        return go({ isReady: true }, listen({ digits: 4 }));
      },
      dtmf_input: (state, { digits }) => {
        events.push(`${digits} ${String(state.isReady)}`);
        return go(state, say('Thank you.').listen());
      },
      otherwise: (state) => go(state, say('?').listen()),
    });
    const { sessions, clock, log } = await testEngine([busy]);
    const call = new MemoryCall(sessions);
    const welcome = await call.open({ kind: 'session_start', name: '', parameters: {} });
    welcome.turn.halfClose();
    await clock.advanceAsync(200);
    const keys = await call.open({ kind: 'dtmf_start' });
    keys.turn.halfClose();
    await clock.advanceAsync(1000);
    const digits = await call.open({ kind: 'dtmf', digits: '4711' });
    digits.turn.halfClose();
    await clock.advanceAsync(1000);
    finish();
    await digits.sink.ended();
    expect(events).toEqual(['session_start', '4711 true']);
    expect(wasStopped).toBe(false);
    // G-53: what was cut stays cut.
    expect(welcome.sink.texts).toEqual(['Welcome to the line, please enter your number.']);
    expect(digits.sink.texts).toEqual(['Thank you.']);
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    await sessions.close(0);
  });

  it('is given up when the caller hangs up, and its handler is aborted', async () => {
    let signal: AbortSignal | undefined;
    const busy = bot<null>({
      id: 'busy',
      name: 'Busy',
      version: 1,
      session_start: (_, context) => {
        ({ signal } = context);
        return new Promise<never>(() => undefined);
      },
      otherwise: () => go(null, say('?').listen()),
    });
    const { sessions, clock } = await testEngine([busy]);
    const call = new MemoryCall(sessions);
    const welcome = await call.open({ kind: 'session_start', name: '', parameters: {} });
    await flushMicrotasks();
    expect(signal?.aborted).toBe(false);
    welcome.turn.push({ kind: 'session_end' });
    await flushMicrotasks();
    expect(signal?.aborted).toBe(true);
    await clock.advanceAsync(1000);
    await sessions.close(0);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a reply that is being made', () => {
  /** The caller asked with a key, heard "One moment.", and says something this long while the bot is still looking. */
  async function saidMeanwhile(
    voicedMs: number,
  ): Promise<{ readonly answer: readonly (string | undefined)[]; readonly events: readonly string[] }> {
    const events: string[] = [];
    let finish: () => void = () => undefined;
    const slow = bot<null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      async *dtmf_input() {
        yield say('One moment.');
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return go(null, say('Your order is on its way.').listen());
      },
      otherwise: (_, { type }) => {
        events.push(type);
        return go(null, say('Sorry?').listen());
      },
    });
    const { sessions, clock } = await testEngine([slow]);
    const call = new MemoryCall(sessions);
    await call.start();
    await clock.advanceAsync(2000);
    const asked = await call.open({ kind: 'dtmf', digits: '1' });
    asked.turn.halfClose();
    await clock.advanceAsync(3000);
    const next = await call.open();
    const line = joined(silence(500), recorded('number').subarray(0, 2400 + voicedMs * 8), silence(2500));
    for (let at = 0; at + 160 <= line.length; at += 160) next.turn.push({ kind: 'audio', audio: line.subarray(at, at + 160) });
    await clock.advanceAsync(400);
    finish();
    await clock.advanceAsync(2000);
    await sessions.close(0);
    return { answer: asked.sink.texts, events };
  }

  it.each([80, 160, 240])('is not lost to %i ms more of voice, which would not cut a prompt either', async (voicedMs) => {
    expect(await saidMeanwhile(voicedMs)).toEqual({ answer: ['One moment.', 'Your order is on its way.'], events: [] });
  });

  it('is given up for somebody who speaks on', async () => {
    expect(await saidMeanwhile(1500)).toEqual({ answer: ['One moment.'], events: ['speech_input'] });
  });
});
