// Which of two turns speaks first on one socket: the FINAL of the reply that was cut, then the start of what cut it.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import type { FinalNext, Output } from '../../../../src/dialog/output.ts';
import { TurnWriters } from '../../../../src/transport/ws/turn-writers.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const AUDIO = { mulaw: new Uint8Array(800), durationMs: 100 };
const LISTEN: FinalNext = {
  kind: 'listen',
  accept: 'both',
  digits: 1,
  interDigitMs: 3000,
  terminator: '#',
  noInputMs: 0,
  sensitive: false,
};
const START: Output = { kind: 'input_started' };
const END: Output = { kind: 'input_ended', mode: 'chunk' };
const FINAL: Output = { kind: 'final', mode: 'chunk', prompts: [], next: LISTEN };
const LAST: Output = { kind: 'final', mode: 'chunk', prompts: [], next: { kind: 'end', metadata: {} } };
const prompt = (bargeIn: boolean): Output => ({ kind: 'prompt', prompt: { audio: AUDIO, text: undefined, bargeIn } });

function writers() {
  const clock = new FakeClock();
  const said: string[] = [];
  let isFull = false;
  const voice = {
    trackingId: 't',
    deliver: (output: Output) => {
      said.push(output.kind);
      return !isFull;
    },
    onceDrained: (listener: () => void) => {
      said.push('waits');
      listener();
    },
    fail: ({ code }: AppError) => said.push(code),
  };
  return {
    clock,
    said,
    fill: () => {
      isFull = true;
    },
    writers: new TurnWriters(voice, clock),
  };
}

describe('the writers of one socket', () => {
  it('say at once that input began when nothing else is being said', () => {
    const { writers: all, said, clock } = writers();
    const older = all.next();
    older.write(FINAL);
    older.complete();
    expect(all.next().write(START)).toBe(true);
    expect(said).toEqual(['final', 'input_started']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('W-24 W-27: let a reply that was cut say its FINAL before the start of what cut it', () => {
    const { writers: all, said, clock } = writers();
    const [older, newer] = [all.next(), all.next()];
    older.write(prompt(true));
    expect(newer.write(START)).toBe(true);
    expect(said).toEqual(['prompt']);
    older.write(FINAL);
    older.complete();
    expect(said).toEqual(['prompt', 'final', 'input_started']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('W-27: wait for all that are older, but no longer than 100 ms; whatever the older ones say then is dropped, their FINAL included', () => {
    const { writers: all, said, clock } = writers();
    const [first, second, newer] = [all.next(), all.next(), all.next()];
    newer.write(START);
    first.complete();
    clock.advance(99);
    expect(said).toEqual([]);
    clock.advance(1);
    expect(said).toEqual(['input_started']);
    second.write(prompt(true));
    second.write(FINAL);
    second.complete();
    newer.write(END);
    newer.write(FINAL);
    expect(said).toEqual(['input_started', 'input_ended', 'final']);
  });

  it('W-27: wait for a reply that was cut once only', () => {
    const { writers: all, said, clock } = writers();
    const [older, newer] = [all.next(), all.next()];
    newer.write(START);
    clock.advance(100);
    newer.complete();
    all.next().write(START);
    expect(said).toEqual(['input_started', 'input_started']);
    older.complete();
    expect(clock.pendingTimers).toBe(0);
  });

  it('G-55: keep a farewell, which the engine says after all', () => {
    const { writers: all, said, clock } = writers();
    const [older, newer] = [all.next(), all.next()];
    newer.write(START);
    clock.advance(100);
    older.write(prompt(false));
    older.write(LAST);
    expect(said).toEqual(['input_started', 'prompt', 'final']);
  });

  it('W-27: say the start before anything else of its own turn', () => {
    const { writers: all, said, clock } = writers();
    const [older, newer] = [all.next(), all.next()];
    newer.write(START);
    newer.write(END);
    expect(said).toEqual(['input_started', 'input_ended']);
    older.write(FINAL);
    expect(said).toEqual(['input_started', 'input_ended']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('forget a start whose turn is over before it was said', () => {
    const { writers: all, said, clock } = writers();
    const [older, newer] = [all.next(), all.next()];
    newer.write(START);
    newer.complete();
    older.complete();
    expect([said, clock.pendingTimers]).toEqual([[], 0]);
  });

  it('hold one start at a time', () => {
    const { writers: all, said, clock } = writers();
    const [older, newer, newest] = [all.next(), all.next(), all.next()];
    newer.write(START);
    newest.write(START);
    newer.complete();
    older.complete();
    expect(said).toEqual(['input_started']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('say nothing once they are shut, and let nobody wait', () => {
    const { writers: all, said, clock } = writers();
    const [older, newer] = [all.next(), all.next()];
    newer.write(START);
    all.shut();
    const late = all.next();
    let drained = 0;
    for (const writer of [older, newer, late]) {
      expect(writer.write(FINAL)).toBe(true);
      writer.onceDrained(() => (drained += 1));
      writer.complete();
      writer.fail(new AppError('internal', 'late'));
    }
    expect([said, clock.pendingTimers, drained]).toEqual([[], 0, 3]);
  });

  it('pass on that the wire is full, that somebody waits for it, and that a turn failed, once', () => {
    const { writers: all, said, fill } = writers();
    const writer = all.next();
    fill();
    expect(writer.write(prompt(true))).toBe(false);
    writer.onceDrained(() => undefined);
    writer.fail(new AppError('slow_reader', 'late'));
    writer.fail(new AppError('slow_reader', 'late'));
    expect(said).toEqual(['prompt', 'waits', 'slow_reader']);
    expect(writer.trackingId).toBe('t');
  });
});
