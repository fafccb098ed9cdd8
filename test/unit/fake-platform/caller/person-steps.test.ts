import { describe, expect, it } from 'vitest';
import type { CancelTimer } from '../../../../src/base/clock.ts';
import type { CallSoFar, Step } from '../../../../src/fake-platform/caller/script.ts';
import type { TimelineEvent } from '../../../../src/fake-platform/caller/timeline.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeCall, config, event, finished, piece, press, prompt, REACTION_MS, say, welcomed } from '../../../support/fake-line.ts';
import { wordMoment } from '../../../../src/fake-platform/caller/person.ts';

/** Every timer is late. */
class LateClock extends FakeClock {
  override after(delayMs: number, task: () => void): CancelTimer {
    return super.after(delayMs + 10, task);
  }
}

describe('the moment of a word', () => {
  const whole = { texts: ['Press 1 for hours,', '2 for the address.'], audioMs: 3700, isWhole: true };

  it('is as far into the sound as the word is into the text', () => {
    expect(wordMoment(whole, 'Press')).toBe(0);
    expect(wordMoment(whole, 'ADDRESS')).toBe((29 / 37) * 3700);
    expect(wordMoment(whole, 'hours, 2')).toBe((12 / 37) * 3700);
  });

  it('is not known before the reply is whole, and never when nobody says the word', () => {
    expect(wordMoment({ ...whole, isWhole: false }, 'Press')).toBe('unknown');
    expect(wordMoment(whole, 'goodbye')).toBe('never');
  });
});

/** What the caller knew each time, and does then. */
function improvised(...steps: readonly Step[]) {
  const known: CallSoFar[] = [];
  return { known, improvise: (call: CallSoFar): Promise<Step> => Promise.resolve(steps[known.push(call) - 1] ?? { kind: 'hang_up' }) };
}

describe('a caller who improvises', () => {
  it('decides while the reply still plays, and begins when it is the own turn', async () => {
    const { known, improvise } = improvised(press('1'));
    const call = welcomed({ improvise }, {}, true);
    expect(known).toMatchObject([{ replies: [{ turn: 1, prompts: 1 }], steps: [], mayInterrupt: true }]);
    await call.clock.advanceAsync(1000 + REACTION_MS - 10);
    expect(call.turns.flatMap(({ kinds }) => kinds)).not.toContain('dtmf_start');
    await call.clock.advanceAsync(20);
    expect(call.turns.flatMap(({ kinds }) => kinds)).toContain('dtmf_start');
    expect(known).toHaveLength(1);
  });

  it('interrupts at the moment that was decided, and the reply says how much of it was heard', async () => {
    const { known, improvise } = improvised(press('1', 400));
    const call = welcomed({ improvise }, {}, true);
    await call.clock.advanceAsync(400);
    call.turn(2).complete();
    await call.clock.advanceAsync(3000);
    call.turn(3).answer({ prompts: [prompt(100)] });
    call.turn(3).complete();
    await call.clock.advanceAsync(0);
    expect(known[1]).toMatchObject({
      replies: [{ turn: 1, isInterrupted: true, heardMs: 400 }, { turn: 3 }],
      steps: [{ isInterruption: true }],
    });
    expect((await finished(call)).outcome).toBe('hung_up');
  });

  it('waits for the whole reply, and takes all the time that it needs', async () => {
    let decide: (step: Step) => void = () => undefined;
    const call = new FakeCall({ improvise: () => new Promise((resolve) => (decide = resolve)) });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(100, true)] });
    await call.clock.advanceAsync(50);
    decide({ kind: 'hang_up' });
    await call.clock.advanceAsync(5000);
    expect(call.turns.flatMap(({ kinds }) => kinds)).not.toContain('session_end');
    call.turn(1).answer({});
    call.turn(1).complete();
    await call.clock.advanceAsync(20_000);
    decide({ kind: 'hang_up' });
    expect((await finished(call)).outcome).toBe('hung_up');
  });
});

describe('steps of the caller', () => {
  it('interrupts about when the prompt comes to a word, once its text is known', () => {
    const call = new FakeCall({ script: [{ ...press('1'), interruptWord: 'address' }] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.clock.advance(100);
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.turn(1).answer({});
    call.turn(1).complete(['Welcome. The address?']);
    // 13 of 21 characters into 2000 ms.
    call.clock.advance(1137);
    expect(call.turn(2).kinds).not.toContain('dtmf_start');
    call.clock.advance(2);
    expect(call.turn(2).kinds).toContain('dtmf_start');
  });

  it('begin once, also when a late machine finds that the next piece of the prompt has begun meanwhile', () => {
    const clock = new LateClock();
    const spoken: number[] = [];
    const onEvent = ({ what, atMs }: TimelineEvent): void => {
      if (what === 'speaks') spoken.push(atMs);
    };
    const call = new FakeCall({ script: [say(500, 995), press('9')], onEvent }, clock);
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
    call.turn(1).answer({});
    call.turn(1).complete();
    clock.advance(1200);
    expect(spoken).toHaveLength(1);
  });

  it.each(['before', 'while'])('end a silence at a signal that comes %s the caller is silent, or after its time', (when) => {
    const over = new AbortController();
    const call = welcomed({ script: [{ kind: 'wait', waitMs: 5000, over: over.signal }, { kind: 'wait', waitMs: 5000 }, press('1')] });
    if (when === 'before') over.abort();
    call.clock.advance(1000 + REACTION_MS);
    over.abort();
    // Time for a second sign to look at what comes next.
    call.clock.advance(REACTION_MS + 5000 - 1);
    expect(call.turns).toHaveLength(2);
    call.clock.advance(1 + REACTION_MS);
    expect(call.turn(3).kinds).toContain('dtmf_start');
  });

  it('waits for its turn when the word is never said, and says that nothing was interrupted', async () => {
    const call = new FakeCall({ script: [{ kind: 'hang_up', interruptWord: 'goodbye' }] });
    call.turn(1).answer({ prompts: [{ ...prompt(1000, true), text: 'Welcome.' }] });
    call.turn(1).complete();
    call.clock.advance(1000 + REACTION_MS);
    call.turn(2).complete();
    call.turn(3).complete();
    expect((await call.over).steps).toEqual([
      { atMs: 1000 + REACTION_MS, fromTurn: 2, isInterruption: false, isTaken: true, missedWord: 'never' },
    ]);
  });

  it('G-70 stays silent until the server has said something about it', async () => {
    const call = welcomed({ script: [{ kind: 'stay_silent' }, press('9')] }, { config: config({ noInputMs: 3000, digits: 1 }) });
    call.clock.advance(1000 + 2999);
    expect(call.turns).toHaveLength(2);
    call.clock.advance(1);
    expect(call.turn(3).kinds).toEqual(['no_input']);
    call.turn(2).complete();
    call.turn(3).answer({ prompts: [prompt(500)], config: config({ digits: 1 }) });
    call.turn(3).complete();
    call.clock.advance(500 + REACTION_MS);
    expect(call.turns.at(-1)?.kinds).toEqual(['dtmf_start']);
    call.turn(5).complete();
    const metadata = { reason: 'asked' };
    call.turn(6).answer({ event: { kind: 'transfer', name: 'transfer_requested', metadata } });
    call.turn(6).complete();
    const { steps, terminal, outcome } = await call.over;
    expect(outcome).toBe('transferred');
    expect(terminal).toEqual({ kind: 'transfer', name: 'transfer_requested', metadata, turn: 6 });
    expect(steps.map(({ fromTurn }) => fromTurn)).toEqual([2, 5]);
  });

  it.each([press('1', 200), say(200, 200)])('G-51 marks what the platform dropped, and only that (%#)', async (dropped) => {
    const call = welcomed({ script: [dropped, press('1')] }, { config: config({ digits: 1 }) });
    call.clock.advance(1000 + REACTION_MS);
    call.turn(3).complete();
    call.turn(4).answer(event('session_end'));
    call.turn(4).complete();
    expect((await call.over).steps.map(({ isTaken }) => isTaken)).toEqual([false, true]);
  });

  it('measures the latency of a reply without a word, too', async () => {
    const call = welcomed({ script: [press('1')] }, { config: config({ digits: 1 }) });
    call.clock.advance(1000 + REACTION_MS);
    call.turn(3).complete();
    call.clock.advance(700);
    call.turn(4).answer({});
    call.turn(4).complete();
    call.clock.advance(REACTION_MS);
    call.turns.at(-1)?.complete();
    expect((await call.over).replies.map(({ turn, latencyMs, prompts }) => [turn, latencyMs, prompts])).toEqual([
      [1, 0, 1],
      [4, 700, 0],
    ]);
  });

  it('marks what was begun in the middle of a prompt', async () => {
    const call = welcomed({ script: [press('1', 400), press('2')] }, { config: config({ digits: 1 }) }, true);
    call.clock.advance(400);
    call.turn(2).complete();
    call.turn(3).answer(event('session_end'));
    call.turn(3).complete();
    expect((await call.over).steps).toEqual([{ atMs: 400, fromTurn: 3, isInterruption: true, isTaken: true }]);
  });
});
