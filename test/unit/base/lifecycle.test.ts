import { describe, expect, it } from 'vitest';
import { every } from '../../../src/base/clock.ts';
import { Lifecycle } from '../../../src/base/lifecycle.ts';
import { recordingLog } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('lifecycle', () => {
  it('closes in reverse order, once', async () => {
    const closed: string[] = [];
    const lifecycle = new Lifecycle({ clock: new FakeClock(), log: recordingLog(), limitMs: 1000 });
    for (const name of ['first', 'second', 'third']) {
      lifecycle.opened(name, () => {
        closed.push(name);
      });
    }
    await Promise.all([lifecycle.close(), lifecycle.close()]);
    expect(closed).toEqual(['third', 'second', 'first']);
  });

  it('waits for a step as long as the step says', async () => {
    const clock = new FakeClock();
    const lifecycle = new Lifecycle({ clock, log: recordingLog(), limitMs: 1000 });
    const [patient, closed] = [new Lifecycle({ clock, log: recordingLog(), limitMs: 1000 }), [] as string[]];
    lifecycle.opened('short', () => new Promise(() => undefined));
    patient.opened('long', () => new Promise(() => undefined), 3000);
    void lifecycle.close().then(() => closed.push('short'));
    const closing = patient.close().then(() => closed.push('long'));
    await clock.advanceAsync(2999);
    expect(closed).toEqual(['short']);
    await clock.advanceAsync(1);
    await closing;
    expect(closed).toEqual(['short', 'long']);
  });

  it('goes on when a step throws or hangs, and says which', async () => {
    const closed: string[] = [];
    const clock = new FakeClock();
    const log = recordingLog();
    const lifecycle = new Lifecycle({ clock, log, limitMs: 1000 });
    lifecycle.opened('last', () => {
      closed.push('last');
    });
    lifecycle.opened('hanging', () => new Promise(() => undefined));
    lifecycle.opened('broken', () => {
      throw new Error('no');
    });
    const closing = lifecycle.close();
    await clock.advanceAsync(1000);
    await closing;
    expect(closed).toEqual(['last']);
    expect(log.lines.map(({ level, step }) => [level, step])).toEqual([
      ['error', 'broken'],
      ['warn', 'hanging'],
    ]);
  });
});

describe('every', () => {
  it('repeats until it is cancelled, also from inside', () => {
    const clock = new FakeClock();
    let runs = 0;
    const cancel = every(clock, 100, () => {
      runs += 1;
      if (runs === 3) cancel();
    });
    clock.advance(1000);
    expect(runs).toBe(3);
    expect(clock.pendingTimers).toBe(0);
  });
});
