import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CircuitBreaker, type CircuitBreakerOptions, type CircuitPass, type CircuitState } from '../../../src/base/circuit-breaker.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function open(options: Partial<CircuitBreakerOptions> = {}): { breaker: CircuitBreaker; clock: FakeClock; changes: CircuitState[] } {
  const clock = new FakeClock();
  const changes: CircuitState[] = [];
  const limits = { maxFailures: 3, openMs: 1000, maxOpenMs: 3000 };
  return { breaker: new CircuitBreaker({ clock, ...limits, onChange: (state) => changes.push(state), ...options }), clock, changes };
}

function fail(breaker: CircuitBreaker, times: number): void {
  for (let time = 0; time < times; time += 1) breaker.enter()?.failed();
}

describe('CircuitBreaker', () => {
  it('lets everything pass while there are fewer failures in a row than it takes to open', () => {
    const { breaker, changes } = open();
    for (let round = 0; round < 5; round += 1) {
      fail(breaker, 2);
      breaker.enter()?.succeeded();
    }
    expect(breaker.state).toBe('closed');
    expect(changes).toEqual([]);
  });

  it('opens after so many failures in a row and then lets nothing pass', () => {
    const { breaker, clock, changes } = open();
    fail(breaker, 3);
    expect(breaker.state).toBe('open');
    clock.advance(999);
    expect(breaker.enter()).toBeUndefined();
    expect(changes).toEqual(['open']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets one try after a while, and everything once the try has succeeded', () => {
    const { breaker, clock, changes } = open();
    fail(breaker, 3);
    clock.advance(1000);
    const attempt = breaker.enter();
    expect([breaker.state, breaker.enter()]).toEqual(['half_open', undefined]);
    attempt?.succeeded();
    expect([breaker.enter() !== undefined, breaker.enter() !== undefined]).toEqual([true, true]);
    expect(changes).toEqual(['open', 'half_open', 'closed']);
  });

  it('stays open twice as long after each try that fails, up to a limit, and begins anew after a success', () => {
    const { breaker, clock } = open();
    fail(breaker, 3);
    const closedForMs = (): number => {
      for (let waitedMs = 0; ; waitedMs += 100) {
        const attempt = breaker.enter();
        if (attempt !== undefined) {
          attempt.failed();
          return waitedMs;
        }
        clock.advance(100);
      }
    };
    expect([closedForMs(), closedForMs(), closedForMs(), closedForMs()]).toEqual([1000, 2000, 3000, 3000]);
    clock.advance(3000);
    breaker.enter()?.succeeded();
    fail(breaker, 3);
    expect(closedForMs()).toBe(1000);
  });

  it('lets the next one try at once when nobody waited for the first try', () => {
    const { breaker, clock } = open();
    fail(breaker, 3);
    clock.advance(1000);
    breaker.enter()?.abandoned();
    expect(breaker.state).toBe('open');
    breaker.enter()?.succeeded();
    expect(breaker.state).toBe('closed');
  });

  it('does not listen to answers from before it opened', () => {
    const { breaker, clock } = open();
    const [late, later] = [breaker.enter(), breaker.enter()];
    fail(breaker, 3);
    late?.succeeded();
    expect(breaker.state).toBe('open');
    clock.advance(1000);
    const attempt = breaker.enter();
    later?.failed();
    expect(breaker.state).toBe('half_open');
    attempt?.succeeded();
    expect(breaker.state).toBe('closed');
  });

  it('counts every pass once', () => {
    const { breaker } = open();
    const pass = breaker.enter();
    for (let time = 0; time < 5; time += 1) pass?.failed();
    expect(breaker.state).toBe('closed');
  });

  it('never stays shut for good, whatever happens: when the time is over and nothing is out, one may pass', () => {
    const step = fc.oneof(
      fc.constant('enter' as const),
      fc.record({ use: fc.nat(), how: fc.constantFrom('succeeded' as const, 'failed' as const, 'abandoned' as const) }),
      fc.integer({ min: 0, max: 4000 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { breaker, clock } = open();
        const out: CircuitPass[] = [];
        for (const done of steps) {
          if (typeof done === 'number') clock.advance(done);
          else if (done === 'enter') out.push(...[breaker.enter()].filter((pass) => pass !== undefined));
          else out.splice(done.use % Math.max(1, out.length), 1)[0]?.[done.how]();
        }
        for (const pass of out) pass.abandoned();
        clock.advance(3000);
        expect(breaker.enter()).toBeDefined();
      }),
    );
  });
});
