import { describe, expect, it } from 'vitest';
import { checkConditions, type LineConditions } from '../../../../../src/fake-platform/lines/conditions/line-conditions.ts';
import {
  audioFrames,
  event,
  FakeCall,
  piece,
  press,
  prompt,
  REACTION_MS,
  say,
  welcomed,
  type FakeTurn,
} from '../../../../support/fake-line.ts';

/** A call over a bad line; its welcome is answered as soon as it arrives, and completed. */
function called(conditions: LineConditions, script = [say(400)]): FakeCall {
  const call = new FakeCall({ script, conditions });
  while (call.turns.length === 0) call.clock.advance(1);
  call.clock.advance(2000);
  call.turn(1).answer({ prompts: [prompt(100)] });
  call.turn(1).complete();
  return call;
}

/** When frames arrive on a turn, ms from now, as long as the test looks. */
function arrivals(call: FakeCall, turn: () => FakeTurn, lookMs: number): readonly number[] {
  const times: number[] = [];
  for (let ms = 1; ms <= lookMs; ms += 1) {
    const before = audioFrames(turn()).length;
    call.clock.advance(1);
    for (let frame = before; frame < audioFrames(turn()).length; frame += 1) times.push(ms);
  }
  return times;
}

describe('jitter', () => {
  it('makes frames late by up to its bound, keeps their order, and is the same for the same seed', () => {
    const run = (seed: number): readonly number[] => {
      const call = called({ jitterMs: 100, seed });
      call.clock.advance(400);
      return arrivals(call, () => call.turn(2), 600);
    };
    const times = run(7);
    expect(times.length).toBeGreaterThan(20);
    const pauses = times.map((time, index) => time - (times[index - 1] ?? time));
    expect(Math.max(...pauses)).toBeGreaterThan(25);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(120);
    expect(run(7)).toEqual(times);
    expect(run(8)).not.toEqual(times);
  });

  it('loses and changes nothing: the caller says what it says, and the half-close comes last', () => {
    const call = called({ jitterMs: 200 });
    call.clock.advance(1500);
    call.turn(2).answer(event('end_of_input'));
    call.clock.advance(250);
    expect(call.turn(2).kinds).toEqual(['audio_format', 'probe', 'silence', 'speech', 'silence']);
    expect(call.turn(2).isHalfClosed).toBe(true);
    expect(audioFrames(call.turn(2)).filter((frame) => frame.some((code) => code !== 0xff))).toHaveLength(20);
  });

  it('keeps the order over all turns of the call', () => {
    const call = called({ jitterMs: 300 }, [press('1')]);
    call.clock.advance(100);
    while (call.turns.length < 3) {
      call.clock.advance(1);
      // The listening turn is half-closed before the key is reported.
      if (call.turns.length === 3) expect(call.turn(2).isHalfClosed).toBe(true);
    }
    expect(call.turn(2).kinds[0]).toBe('audio_format');
  });
});

describe('bursts', () => {
  it('hold frames back and send them at once', () => {
    const call = called({ burstMs: 200 });
    call.clock.advance(600);
    const times = arrivals(call, () => call.turn(2), 1000);
    expect(new Set(times).size).toBe(5);
    expect(times).toHaveLength(50);
  });
});

describe('the end of a call on a bad line', () => {
  it.each<LineConditions>([{ jitterMs: 500 }, { burstMs: 700 }])('leaves nothing behind: %j', async (conditions) => {
    const call = called(conditions, []);
    while (call.turns.at(-1)?.kinds[0] !== 'session_end') call.clock.advance(10);
    call.turns.at(-1)?.complete();
    expect((await call.over).outcome).toBe('hung_up');
    expect(call.clock.pendingTimers).toBe(0);
  });

  it('gives up a turn that has not been sent yet', async () => {
    const stop = new AbortController();
    const call = new FakeCall({ conditions: { jitterMs: 1000 }, signal: stop.signal });
    expect(call.turns).toHaveLength(0);
    stop.abort();
    call.clock.advance(2000);
    expect(call.turns.map(({ kinds }) => kinds)).toEqual([['session_end']]);
    call.turn(1).complete();
    expect((await call.over).outcome).toBe('interrupted');
  });
});

describe('the loss of the connection', () => {
  it('breaks it at its time, and with it the call: the server gets nothing, and all turns are given up', async () => {
    const call = welcomed({ script: [say(5000)], conditions: { loseAfterMs: 2000 } });
    call.clock.advance(1999);
    expect(call.isBroken).toBe(false);
    call.clock.advance(1);
    expect(call.isBroken).toBe(true);
    const result = await call.over;
    expect(result).toMatchObject({ outcome: 'lost', ok: true, durationMs: 2000, findings: [] });
    expect(result.timeline.map(({ what }) => what)).toContain('loses_the_line');
    expect(call.turns.map(({ kinds }) => kinds[0])).toEqual(['session_start', 'audio_format']);
    expect(call.turn(2).isCancelled).toBe(true);
    expect(call.clock.pendingTimers).toBe(0);
  });

  it('is not waited for when the call is over before', async () => {
    const call = welcomed({ script: [], conditions: { loseAfterMs: 60_000 } });
    call.clock.advance(1000 + REACTION_MS);
    call.turns.at(-1)?.complete();
    expect((await call.over).outcome).toBe('hung_up');
    expect([call.clock.pendingTimers, call.isBroken]).toEqual([0, false]);
  });
});

describe('a slow reader', () => {
  it('stops reading behind the first audio of each reply', () => {
    const call = new FakeCall({ conditions: { slowReader: { pauseMs: 700 } } });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(100)] });
    expect(call.turn(1).isReading).toBe(false);
    call.clock.advance(699);
    expect(call.turn(1).isReading).toBe(false);
    call.clock.advance(1);
    expect(call.turn(1).isReading).toBe(true);
    call.turn(1).answer({ type: 'chunk', prompts: [piece(100)] });
    expect(call.turn(1).isReading).toBe(true);
  });

  it('reads audio at a bounded rate, and what was read ahead counts', () => {
    const call = new FakeCall({ conditions: { slowReader: { bytesPerSecond: 4000 } } });
    for (const ms of [100, 100]) call.turn(1).answer({ type: 'chunk', prompts: [piece(ms)] });
    call.clock.advance(399);
    expect(call.turn(1).isReading).toBe(false);
    call.clock.advance(1);
    expect(call.turn(1).isReading).toBe(true);
  });

  it('is given more time before anything is late', async () => {
    const call = new FakeCall({ conditions: { slowReader: { pauseMs: 12_000 } } });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(100)] });
    call.clock.advance(12_000);
    call.turn(1).answer({ prompts: [] });
    call.turn(1).complete();
    call.clock.advance(1000);
    call.turn(2).complete();
    call.turn(3).complete();
    const result = await call.over;
    expect(result.outcome).toBe('hung_up');
    expect(result.findings.map(({ code }) => code)).toEqual([]);
    expect(call.clock.pendingTimers).toBe(0);
  });
});

describe('conditions that no line is in', () => {
  it.each<[LineConditions, string]>([
    [{ jitterMs: -1 }, 'jitter'],
    [{ burstMs: 2001 }, 'burst'],
    [{ loseAfterMs: Number.NaN }, 'loss of the connection'],
    [{ slowReader: { pauseMs: 30_001 } }, 'slow reader'],
    [{ slowReader: { bytesPerSecond: 999 } }, 'at least 1000 bytes per second'],
  ])('are refused: %j', async (conditions, words) => {
    expect(() => {
      checkConditions(conditions);
    }).toThrow(words);
    await expect(new FakeCall({ conditions }).over).rejects.toThrow(RangeError);
  });
});
