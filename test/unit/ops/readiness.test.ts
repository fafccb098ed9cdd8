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
    const first = readiness.hold('full');
    const second = readiness.hold('full');
    first();
    first();
    expect(readiness.current).toEqual({ ready: false, reasons: ['full'] });
    second();
    expect(readiness.current.ready).toBe(true);
  });
});
