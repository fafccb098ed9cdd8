import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayHaveHappened, pauseBeforeRetry, RETRY_LIMITS } from '../../../../src/admin/rest/retry.ts';
import { REQUEST_OUTCOMES, RequestFailure, type HttpMethod } from '../../../../src/base/http-exchange.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const satisfies readonly HttpMethod[];
const failure = fc
  .record({
    outcome: fc.constantFrom(...REQUEST_OUTCOMES.filter((outcome) => outcome !== 'ok')),
    more: fc.record(
      {
        status: fc.integer({ min: 300, max: 599 }),
        retryAfterMs: fc.integer({ min: 0, max: 100_000 }),
        systemCode: fc.constantFrom('ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET', 'ENOTFOUND', 'CERT_HAS_EXPIRED'),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ outcome, more }) => new RequestFailure(outcome, 'failed', more));

describe('the pause before a request is sent again', () => {
  it('is drawn from nothing up to a bound that doubles, or from what the platform asked for on (R-11)', () => {
    fc.assert(
      fc.property(
        failure,
        fc.constantFrom(...METHODS),
        fc.integer({ min: 1, max: 6 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (failed, method, tries, drawn) => {
          const pauseMs = pauseBeforeRetry(failed, { method, tries, limits: RETRY_LIMITS, random: () => drawn });
          if (pauseMs === undefined) return;
          const { firstPauseMs, maxPauseMs, maxRetryAfterMs, maxTries } = RETRY_LIMITS;
          expect(tries).toBeLessThan(maxTries);
          const fromMs = failed.retryAfterMs ?? 0;
          const room = failed.retryAfterMs === undefined ? Math.min(maxPauseMs, firstPauseMs * 2 ** (tries - 1)) : firstPauseMs;
          expect(fromMs).toBeLessThanOrEqual(maxRetryAfterMs);
          expect(pauseMs).toBeGreaterThanOrEqual(fromMs);
          expect(pauseMs).toBeLessThan(fromMs + room);
        },
      ),
    );
  });

  it('never comes before a POST that may have been done (R-12)', () => {
    fc.assert(
      fc.property(failure, (failed) => {
        const pauseMs = pauseBeforeRetry(failed, { method: 'POST', tries: 1, limits: RETRY_LIMITS, random: () => 0 });
        if (pauseMs !== undefined) expect(mayHaveHappened(failed)).toBe(false);
      }),
    );
  });

  it('grows to its bound and no further', () => {
    const limits = { ...RETRY_LIMITS, maxTries: 10 };
    const failed = new RequestFailure('server_error', 'failed', { status: 500 });
    const pauses = [1, 2, 3, 4, 5, 6].map((tries) => pauseBeforeRetry(failed, { method: 'GET', tries, limits, random: () => 1 }));
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
  });
});

describe('a failed request', () => {
  it.each([
    ['timed out', new RequestFailure('timeout', ''), true],
    ['broke off', new RequestFailure('unreachable', '', { systemCode: 'ECONNRESET' }), true],
    ['failed for no known reason', new RequestFailure('unreachable', ''), true],
    ['was answered with nonsense', new RequestFailure('bad_answer', '', {}), true],
    ['met a failing server', new RequestFailure('server_error', '', { status: 500 }), true],
    ['met a gateway that waited in vain', new RequestFailure('server_error', '', { status: 504 }), true],
    ['was put off', new RequestFailure('server_error', '', { status: 503, retryAfterMs: 1000 }), false],
    ['met a server that was too busy to say when to come back', new RequestFailure('server_error', '', { status: 503 }), true],
    ['came too often', new RequestFailure('rate_limited', '', { status: 429 }), false],
    ['was refused', new RequestFailure('client_error', '', { status: 409 }), false],
    ['found nobody', new RequestFailure('unreachable', '', { systemCode: 'ECONNREFUSED' }), false],
    ['found no such host', new RequestFailure('unreachable', '', { systemCode: 'ENOTFOUND' }), false],
  ])('that %s may have been done: %s', (_, failed, expected) => {
    expect(mayHaveHappened(failed)).toBe(expected);
  });
});
