// Handlers that are only notified: what a slow or failing one may do to a call, and what is written for it.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type BotContext } from '../../../../src/bot/index.ts';
import { LINE_SILENCE } from '../../../support/caller-audio.ts';
import { snapshotOf, TEST_SETTINGS, testEngine } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { LeftSnapshots } from '../../../support/homes.ts';
import { reasonOf } from '../../../support/interruption.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';

interface State {
  readonly turns: number;
}

/** Notified of each turn through `told`. */
function watching(told: (state: State, context: BotContext) => State | undefined | Promise<State | undefined>, start?: () => void) {
  return bot<State>({
    id: 'watching',
    name: 'Watching',
    version: 1,
    session_start: () => {
      start?.();
      return go({ turns: 0 }, say('Hi.').listen());
    },
    turn_started: (state, _event, context) => told(state, context),
    otherwise: (state) => go(state, say('Yes?').listen()),
  });
}

function failures(seen: readonly string[]): readonly string[] {
  return seen.filter((event) => event.startsWith('bot_failed'));
}

describe('a note to a bot', () => {
  it('may change its state', async () => {
    const { sessions } = await testEngine([watching(({ turns }) => ({ turns: turns + 1 }))]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.press('1');
    expect((await snapshotOf({ sessions }))?.state).toEqual({ turns: 1 });
  });

  it('may not make it larger than a snapshot: that is reported, and nothing is kept of it', async () => {
    const { sessions, seen } = await testEngine([watching(({ turns }) => ({ turns, rest: 'x'.repeat(TEST_SETTINGS.maxStateBytes) }))]);
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('1')).texts).toEqual(['Yes?']);
    expect((await snapshotOf({ sessions }))?.state).toEqual({ turns: 0 });
    expect(failures(seen)).toEqual(['bot_failed bot_failed']);
  });

  it('waits until the bot has begun the call, and is no failure before', async () => {
    let starts = 0;
    const told: State[] = [];
    const shaky = watching(
      (state) => {
        told.push(state);
        return undefined;
      },
      () => {
        starts += 1;
        if (starts === 1) throw new TypeError('not yet');
      },
    );
    const { sessions, seen } = await testEngine([shaky]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.press('1');
    expect([told, failures(seen)]).toEqual([[], ['bot_failed bot_failed']]);
    await call.press('1');
    expect(told).toEqual([{ turns: 0 }]);
  });

  it('costs no write: what it changes is saved with the next answer', async () => {
    const left = new LeftSnapshots();
    const { sessions } = await testEngine([watching(({ turns }) => ({ turns: turns + 1 }))], { snapshots: left });
    const call = new MemoryCall(sessions);
    await call.start();
    await call.turn();
    await flushMicrotasks();
    expect([left.asked, left.newest()?.state]).toEqual([['save call-1'], { turns: 0 }]);
    await call.press('1');
    expect([left.asked, left.newest()?.state]).toEqual([['save call-1', 'save call-1'], { turns: 2 }]);
  });

  it('is reported and aborted when it takes too long, and the reply is not lost', async () => {
    let signal: AbortSignal | undefined;
    const slow = watching((_state, context) => {
      signal = context.signal;
      return new Promise(() => undefined);
    });
    const { sessions, clock, seen } = await testEngine([slow]);
    const call = new MemoryCall(sessions);
    await call.start();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(signal?.aborted).toBe(false);
    await clock.advanceAsync(500);
    expect(reasonOf(signal)).toBe('deadline');
    expect([sink.texts, failures(seen)]).toEqual([['Yes?'], ['bot_failed bot_timeout']]);
  });

  it('that throws is reported, and changes nothing for the caller', async () => {
    const throwing = watching(() => {
      throw new TypeError('no such tool');
    });
    const { sessions, seen } = await testEngine([throwing]);
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('1')).texts).toEqual(['Yes?']);
    expect(failures(seen)).toEqual(['bot_failed bot_failed']);
  });

  it('G-76 is dropped after an end of ours: a stream that only has to be completed does not wait for it', async () => {
    const started: string[] = [];
    const leaving = bot<null>({
      id: 'leaving',
      name: 'Leaving',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      dtmf_input: () => go(null, say('Bye.').end('done')),
      turn_started: (_state, _event, { turnId }) => void started.push(turnId),
      otherwise: () => go(null, say('Yes?').listen()),
    });
    const { sessions, clock } = await testEngine([leaving], { settings: { maxFarewellMs: 30_000 } });
    const call = new MemoryCall(sessions);
    await call.start();
    const farewell = await call.open({ kind: 'dtmf', digits: '9' });
    await flushMicrotasks();
    farewell.turn.abort('hang_up');
    await clock.advanceAsync(10_000);
    const [last, other] = [await call.open(LINE_SILENCE), await call.open(LINE_SILENCE)];
    await flushMicrotasks();
    expect([last.sink.next?.kind, other.sink.end, started]).toEqual(['end', 'complete', ['call-1#2']]);
  });
});
