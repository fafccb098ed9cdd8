import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abortAfter, Interruption, linkAbort, linkForeignAbort, pause, waitAtMost, type LinkedAbort } from '../../../src/base/abort.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('linkForeignAbort', () => {
  it.each<[string, (abort: LinkedAbort) => unknown]>([
    ['before', (abort) => abort.signal],
    ['after', () => undefined],
  ])('says so with an AbortError that carries the reason, asked %s it happened', (_, ask) => {
    const parent = linkAbort();
    const [own, followed] = [linkForeignAbort(parent.signal), linkForeignAbort(parent.signal)];
    for (const each of [own, followed]) ask(each);
    own.abort('barge_in');
    parent.abort('hang_up');
    // The first reason counts.
    followed.abort('deadline');
    for (const [{ signal }, cause] of [[own, 'barge_in'] as const, [followed, 'hang_up'] as const]) {
      expect(signal.reason).toBeInstanceOf(DOMException);
      expect(signal.reason).toBeInstanceOf(Interruption);
      expect(signal.reason).toMatchObject({ name: 'AbortError', cause });
    }
    expect(parent.signal.reason).toBe('hang_up');
  });

  it('leaves no listener on its parent once it was disposed', () => {
    const parent = linkAbort();
    const child = linkForeignAbort(parent.signal);
    expect(child.signal.aborted).toBe(false);
    child.dispose();
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
  });
});

describe('linkAbort', () => {
  it('aborts with its parent and with its parent’s reason', () => {
    const parent = linkAbort();
    const child = linkAbort(parent.signal);
    parent.abort('shutdown');
    expect(child.signal.reason).toBe('shutdown');
  });

  it('is aborted from the start below an aborted parent', () => {
    const parent = linkAbort();
    parent.abort('hang_up');
    expect(linkAbort(parent.signal).signal.reason).toBe('hang_up');
  });

  it('leaves its parent alone', () => {
    const parent = linkAbort();
    linkAbort(parent.signal).abort('barge_in');
    expect(parent.signal.aborted).toBe(false);
  });

  it('does not follow its parent after it was disposed', () => {
    const parent = linkAbort();
    const child = linkAbort(parent.signal);
    child.dispose();
    parent.abort('shutdown');
    expect(child.signal.aborted).toBe(false);
  });

  it.each<[string, (child: LinkedAbort) => unknown]>([
    ['before', (child) => child.signal],
    ['after', () => undefined],
  ])('says the same of a signal that was asked for %s what happened', (_, ask) => {
    const parent = linkAbort();
    const [own, followed, disposedBefore, disposedAfter] = Array.from({ length: 4 }, () => linkAbort(parent.signal));
    for (const child of [own, followed, disposedBefore, disposedAfter]) if (child !== undefined) ask(child);
    own?.abort('barge_in');
    disposedBefore?.dispose();
    parent.abort('shutdown');
    disposedAfter?.dispose();
    // The first reason counts.
    followed?.abort('deadline');
    const all = [own, followed, disposedBefore, disposedAfter];
    expect(all.map((child) => child?.isAborted)).toEqual([true, true, false, true]);
    expect(all.map((child) => child?.signal.aborted)).toEqual([true, true, false, true]);
    expect(all.map((child): unknown => child?.signal.reason)).toEqual(['barge_in', 'shutdown', undefined, 'shutdown']);
  });

  it('leave no listener on their parent once they were disposed', () => {
    const parent = linkAbort();
    const children = [linkAbort(parent.signal), linkAbort(parent.signal)];
    expect(children.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(2);
    for (const child of children) child.dispose();
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
  });
});

describe('abortAfter', () => {
  it('aborts at the limit, to the millisecond, and says that it was the deadline', () => {
    const clock = new FakeClock();
    const limited = abortAfter(1000, clock);
    clock.advance(999);
    expect(limited.isAborted).toBe(false);
    clock.advance(1);
    expect([limited.isAborted, limited.signal.reason]).toEqual([true, 'deadline']);
  });

  it('aborts earlier when its parent does or when its owner aborts it, and keeps that reason', () => {
    const clock = new FakeClock();
    const parent = linkAbort();
    const [below, alone] = [abortAfter(1000, clock, parent.signal), abortAfter(1000, clock)];
    parent.abort('shutdown');
    alone.abort('hang_up');
    clock.advance(1000);
    expect([below.signal.reason, alone.signal.reason]).toEqual(['shutdown', 'hang_up']);
  });

  it('leaves neither a timer nor a listener once it was disposed', () => {
    const clock = new FakeClock();
    const parent = linkAbort();
    const limited = abortAfter(1000, clock, parent.signal);
    const { signal } = limited;
    limited.dispose();
    expect([clock.pendingTimers, getEventListeners(parent.signal, 'abort').length]).toEqual([0, 0]);
    clock.advance(1000);
    expect(signal.aborted).toBe(false);
  });
});

describe('waitAtMost', () => {
  it('returns the value that comes in time and leaves no timer', async () => {
    const clock = new FakeClock();
    expect(await waitAtMost(Promise.resolve(7), 1000, clock)).toEqual({ kind: 'value', value: 7 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives up at the limit, to the millisecond', async () => {
    const clock = new FakeClock();
    let waited: unknown;
    void waitAtMost(new Promise(() => undefined), 1000, clock).then((result) => {
      waited = result;
    });
    await clock.advanceAsync(999);
    expect(waited).toBeUndefined();
    await clock.advanceAsync(1);
    expect(waited).toEqual({ kind: 'timeout' });
  });

  it('ends with the signal, before or while it waits', async () => {
    const clock = new FakeClock();
    const stop = linkAbort();
    const waiting = waitAtMost(new Promise(() => undefined), 1000, clock, stop.signal);
    stop.abort('hang_up');
    expect(await waiting).toEqual({ kind: 'aborted' });
    expect(await waitAtMost(new Promise(() => undefined), 1000, clock, stop.signal)).toEqual({ kind: 'aborted' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('throws what the work rejects with, and swallows what comes too late', async () => {
    const clock = new FakeClock();
    await expect(waitAtMost(Promise.reject(new Error('broken')), 1000, clock)).rejects.toThrow('broken');
    let fail: (error: Error) => void = () => undefined;
    const late = new Promise((_resolve, reject) => {
      fail = reject;
    });
    const waiting = waitAtMost(late, 10, clock);
    await clock.advanceAsync(10);
    expect(await waiting).toEqual({ kind: 'timeout' });
    fail(new Error('too late'));
  });
});

describe('pause', () => {
  it('lasts exactly its time, to the millisecond, where nothing can cut it short', async () => {
    const clock = new FakeClock();
    let isUncut: boolean | undefined;
    void pause(1000, clock).then((was) => {
      isUncut = was;
    });
    await clock.advanceAsync(999);
    expect(isUncut).toBeUndefined();
    await clock.advanceAsync(1);
    expect([isUncut, clock.pendingTimers]).toEqual([true, 0]);
  });

  it('is cut short by its signal, before or while it lasts, and leaves neither a timer nor a listener', async () => {
    const clock = new FakeClock();
    const stop = linkAbort();
    const pausing = pause(1000, clock, stop.signal);
    stop.abort('shutdown');
    expect([await pausing, await pause(1000, clock, stop.signal)]).toEqual([false, false]);
    expect([clock.pendingTimers, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0]);
  });
});
