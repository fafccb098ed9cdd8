import { describe, expect, it } from 'vitest';
import { Intake } from '../../../src/app/intake.ts';
import { Readiness } from '../../../src/ops/readiness.ts';

function world(): { readonly intake: Intake; readonly readiness: Readiness; readonly told: boolean[] } {
  const readiness = new Readiness();
  readiness.started();
  const told: boolean[] = [];
  const intake = new Intake(readiness, [{ drain: (isDraining) => told.push(isDraining) }]);
  return { intake, readiness, told };
}

describe('a server that an operator drains', () => {
  it('is not ready and takes no new calls, until it is undrained', () => {
    const { intake, readiness, told } = world();
    intake.setDrained(true);
    intake.setDrained(true);
    expect(readiness.current).toEqual({ ready: false, reasons: ['drained'] });
    intake.setDrained(false);
    expect(readiness.current).toEqual({ ready: true, reasons: [] });
    expect(told).toEqual([true, true, false]);
  });

  it('never takes calls again once it stops', () => {
    const { intake, readiness, told } = world();
    intake.setDrained(true);
    intake.stop();
    intake.setDrained(false);
    expect(readiness.current).toEqual({ ready: false, reasons: ['draining', 'drained'] });
    expect(told.at(-1)).toBe(true);
  });
});
