import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../src/base/log.ts';
import type { SessionObserver } from '../../../src/session/ports.ts';
import { combineObservers } from '../../../src/telemetry/observers.ts';
import { callFacts, EVENTS, notifyAll } from '../../support/call-events.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';

const call = callFacts();

function makeLog(): { log: Logger; lines: { fields: unknown; message: string }[] } {
  const lines: { fields: unknown; message: string }[] = [];
  const add = (fields: unknown, message: string): void => {
    lines.push({ fields, message });
  };
  const log: Logger = { debug: add, info: add, warn: add, error: add, child: () => log };
  return { log, lines };
}

function fireAll(observer: SessionObserver): void {
  notifyAll(observer, call);
}

function recorder(): { observer: SessionObserver; events: unknown[][] } {
  const events: unknown[][] = [];
  const members = Object.keys(EVENTS).map((member) => [member, (...[, ...facts]: unknown[]) => events.push([member, ...facts])]);
  return { events, observer: Object.fromEntries(members) as SessionObserver };
}

const ALL = Object.entries(EVENTS).map(([member, facts]) => [member, ...facts]);

describe('combineObservers', () => {
  it('passes every event with its arguments to every observer, and copes with observers that want few', () => {
    const first = recorder();
    const second = recorder();
    fireAll(combineObservers([first.observer, {}, second.observer], makeLog().log));
    expect(first.events).toEqual(ALL);
    expect(second.events).toEqual(ALL);
  });

  it('keeps the object of an observer: members may use this', () => {
    class Counting implements SessionObserver {
      count = 0;
      sessionStarted(): void {
        this.count++;
      }
    }
    const counting = new Counting();
    combineObservers([counting], makeLog().log).sessionStarted(call);
    expect(counting.count).toBe(1);
  });

  it('lets an observer that throws break nothing, and logs it once per event', () => {
    const { log, lines } = makeLog();
    const broken: SessionObserver = {
      sessionStarted: () => {
        throw new Error('broken');
      },
      turnEnded: () => {
        throw new Error('broken too');
      },
    };
    const last = recorder();
    const combined = combineObservers([broken, last.observer], log);
    fireAll(combined);
    fireAll(combined);
    expect(last.events).toEqual([...ALL, ...ALL]);
    expect(lines.map(({ fields }) => fields)).toEqual([
      expect.objectContaining({ observer: 0, event: 'sessionStarted' }),
      expect.objectContaining({ observer: 0, event: 'turnEnded' }),
    ]);
  });

  it('catches an observer that fails later, so that its rejection cannot end the process', async () => {
    const { log, lines } = makeLog();
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => {
      unhandled.push(reason);
    };
    process.on('unhandledRejection', listen);
    // An async function fits a type that returns void; this is how a careless author writes one.
    const late = { sessionStarted: (): Promise<void> => Promise.reject(new Error('late')) };
    combineObservers([late], log).sessionStarted(call);
    await flushMicrotasks();
    await flushMicrotasks();
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
    expect(lines).toHaveLength(1);
  });
});
