import { describe, expect, it, onTestFinished } from 'vitest';
import { SynthesisThread, type SynthesisThreadOptions } from '../../../../src/voice/synthesizers/synthesis-thread.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { never } from '../../../support/voice.ts';

const STUBBORN = new URL('../../../fixtures/voice/stubborn-worker.mjs', import.meta.url);

function open(limits: Partial<SynthesisThreadOptions> = {}): { thread: SynthesisThread; clock: FakeClock } {
  const clock = new FakeClock();
  const thread = new SynthesisThread({ file: STUBBORN, data: undefined, clock, ...limits });
  onTestFinished(() => thread.close());
  return { thread, clock };
}

const refused = (reason: string): unknown =>
  expect.objectContaining({ code: 'synthesis_failed', message: expect.stringContaining(reason) as string });

describe('SynthesisThread', () => {
  it('starts no thread before the first text, and answers in order', async () => {
    const { thread } = open();
    expect(thread.isAwake).toBe(false);
    const answers = await Promise.all(
      [['a'], ['b', 'c'], ['d', 'e', 'f']].map((pieces) => thread.speak({ voice: 'slt', pieces: pieces }, never())),
    );
    expect(answers.map((answer) => answer.length)).toEqual([1, 2, 3]);
    expect(thread.isAwake).toBe(true);
  });

  it('passes on a failure of the thread and goes on', async () => {
    const { thread } = open();
    await expect(thread.speak({ voice: 'slt', pieces: ['fail'] }, never())).rejects.toEqual(refused('it would not'));
    expect(await thread.speak({ voice: 'slt', pieces: ['a'] }, never())).toHaveLength(1);
  });

  it('replaces a thread that hangs: its text fails, the next is spoken', async () => {
    const { thread, clock } = open({ limitMs: 500 });
    const hanging = expect(thread.speak({ voice: 'slt', pieces: ['hang'] }, never())).rejects.toEqual(refused('not synthesized in time'));
    clock.advance(499);
    const next = thread.speak({ voice: 'slt', pieces: ['a'] }, never());
    clock.advance(1);
    await hanging;
    expect(await next).toHaveLength(1);
  });

  it.each([
    ['throws', 'crash', 'the thread broke'],
    ['exits', 'exit', 'code 7'],
  ])('replaces a thread that %s', async (_, text, reason) => {
    const { thread } = open();
    const lost = expect(thread.speak({ voice: 'slt', pieces: [text] }, never())).rejects.toEqual(refused(reason));
    expect(await thread.speak({ voice: 'slt', pieces: ['a'] }, never())).toHaveLength(1);
    await lost;
  });

  it('does not kill a thread because a text waited too long behind another', async () => {
    const { thread, clock } = open({ limitMs: 500 });
    const first = expect(thread.speak({ voice: 'slt', pieces: ['hang'] }, never())).rejects.toEqual(refused('in time'));
    clock.advance(300);
    const late = expect(thread.speak({ voice: 'slt', pieces: ['late'] }, never())).rejects.toEqual(refused('in time'));
    // At 500 the hanging thread is replaced and `late` begins; nobody takes its answer off the event loop meanwhile.
    clock.advance(500);
    await Promise.all([first, late]);
    expect(thread.isAwake).toBe(true);
    expect(await thread.speak({ voice: 'slt', pieces: ['a', 'b'] }, never())).toHaveLength(2);
  });

  it('refuses more texts than may wait, and takes others again later', async () => {
    const { thread } = open({ maxWaiting: 2 });
    const taken = [1, 2, 3].map(() => thread.speak({ voice: 'slt', pieces: ['a'] }, never()));
    await expect(thread.speak({ voice: 'slt', pieces: ['a'] }, never())).rejects.toEqual(refused('too many'));
    await Promise.all(taken);
    expect(await thread.speak({ voice: 'slt', pieces: ['a'] }, never())).toHaveLength(1);
  });

  it('takes an abandoned text out of the line', async () => {
    const { thread, clock } = open({ maxWaiting: 1, limitMs: 500 });
    const running = expect(thread.speak({ voice: 'slt', pieces: ['hang'] }, never())).rejects.toEqual(refused('in time'));
    const leaving = new AbortController();
    const left = expect(thread.speak({ voice: 'slt', pieces: ['a'] }, leaving.signal)).rejects.toEqual(refused('no longer needed'));
    leaving.abort('hang_up');
    await left;
    clock.advance(300);
    const next = thread.speak({ voice: 'slt', pieces: ['b', 'c'] }, never());
    clock.advance(200);
    await running;
    expect(await next).toHaveLength(2);
  });

  it('answers an abandoned text at once even while it is being spoken, and speaks the next', async () => {
    const { thread } = open();
    const leaving = new AbortController();
    const left = expect(thread.speak({ voice: 'slt', pieces: ['a'] }, leaving.signal)).rejects.toEqual(refused('no longer needed'));
    leaving.abort('barge_in');
    await left;
    expect(await thread.speak({ voice: 'slt', pieces: ['b', 'c'] }, never())).toHaveLength(2);
    await expect(thread.speak({ voice: 'slt', pieces: ['a'] }, AbortSignal.abort())).rejects.toEqual(refused('no longer needed'));
  });

  it('lets an idle thread go and starts another when needed', async () => {
    const { thread, clock } = open({ idleMs: 1000 });
    await thread.speak({ voice: 'slt', pieces: ['a'] }, never());
    clock.advance(999);
    expect(thread.isAwake).toBe(true);
    clock.advance(1);
    expect(thread.isAwake).toBe(false);
    expect(await thread.speak({ voice: 'slt', pieces: ['a', 'b'] }, never())).toHaveLength(2);
  });

  it('fails everything on close, leaves no thread and no timer, and takes nothing any more', async () => {
    const { thread, clock } = open();
    const texts = ['hang', 'b', 'c'].map((text) =>
      expect(thread.speak({ voice: 'slt', pieces: [text] }, never())).rejects.toEqual(refused('closed')),
    );
    await thread.close();
    await Promise.all(texts);
    expect(thread.isAwake).toBe(false);
    expect(clock.pendingTimers).toBe(0);
    await expect(thread.speak({ voice: 'slt', pieces: ['a'] }, never())).rejects.toEqual(refused('closed'));
  });
});
