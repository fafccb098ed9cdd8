import { describe, expect, it } from 'vitest';
import { Readiness } from '../../../src/ops/readiness.ts';

describe('Readiness', () => {
  it('is not ready until the start is over', () => {
    const readiness = new Readiness();
    expect(readiness.current).toEqual({ ready: false, reasons: ['starting'] });
    readiness.started();
    expect(readiness.current).toEqual({ ready: true, reasons: [] });
  });

  it('P-09 is not ready while it drains, and never again after', () => {
    const readiness = new Readiness();
    readiness.started();
    readiness.drain();
    readiness.started();
    expect(readiness.current).toEqual({ ready: false, reasons: ['draining'] });
  });

  it('is not ready as long as one of several holds is left', () => {
    const readiness = new Readiness();
    readiness.started();
    const first = readiness.hold('descriptors');
    const second = readiness.hold('descriptors');
    first();
    first();
    expect(readiness.current).toEqual({ ready: false, reasons: ['descriptors'] });
    second();
    expect(readiness.current.ready).toBe(true);
  });

  it('notifies when its answer changes, and not when only the reasons change', () => {
    const readiness = new Readiness();
    const told: boolean[] = [];
    readiness.onChange((isReady) => told.push(isReady));
    const first = readiness.hold('keys_unavailable');
    readiness.started();
    expect(told).toEqual([]);
    first();
    const [second, third] = [readiness.hold('keys_unavailable'), readiness.hold('descriptors')];
    second();
    expect(told).toEqual([true, false]);
    third();
    expect(told).toEqual([true, false, true]);
  });

  it('P-09 stays not ready when what held it ends while it drains', () => {
    const readiness = new Readiness();
    const told: boolean[] = [];
    readiness.onChange((isReady) => told.push(isReady));
    readiness.started();
    const release = readiness.hold('keys_unavailable');
    readiness.drain();
    expect(readiness.current).toEqual({ ready: false, reasons: ['draining', 'keys_unavailable'] });
    release();
    expect(readiness.current).toEqual({ ready: false, reasons: ['draining'] });
    expect(told).toEqual([true, false]);
  });
});
