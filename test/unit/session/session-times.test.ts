// How long a caller between two streams is waited for.
import { describe, expect, it } from 'vitest';
import { SessionTimes } from '../../../src/session/session-times.ts';
import { TEST_SETTINGS } from '../../support/engine.ts';

/** When the session was made, ms. */
const MADE_MS = 10_000;
/** How late the platform may be with a stream, ms. */
const LATE_MS = 3000;
const { listen } = TEST_SETTINGS;

describe('a caller between two streams', () => {
  it.each([
    ['for the first stream of a session', () => undefined, 0],
    [
      'after prompts that still play',
      (times: SessionTimes) => {
        times.closed(MADE_MS, 700, listen, false);
      },
      700,
    ],
    [
      'of whom keys alone are wanted, until silence is reported (G-35, G-70)',
      (times: SessionTimes) => {
        times.closed(MADE_MS, 700, { ...listen, accept: 'keys', noInputMs: 6000 }, false);
      },
      6700,
    ],
    [
      'who is typing, until the last digit may come (G-54)',
      (times: SessionTimes) => {
        times.closed(MADE_MS, 0, { ...listen, digits: 4 }, true);
      },
      4 * listen.interDigitMs,
    ],
    [
      'whose digits have come, no longer than after any other input',
      (times: SessionTimes) => {
        times.closed(MADE_MS, 0, { ...listen, digits: 4 }, false);
      },
      0,
    ],
    [
      'whose stream was cancelled, although prompts still play (G-16)',
      (times: SessionTimes) => {
        times.closed(MADE_MS - 1, 20_000, listen, false);
        times.cancelled(MADE_MS);
      },
      0,
    ],
  ])('is waited for %s', (_who, happens, waitMs) => {
    const times = new SessionTimes(MADE_MS, 0);
    happens(times);
    expect(times.isAwaited(MADE_MS + waitMs + LATE_MS - 1)).toBe(true);
    expect(times.isAwaited(MADE_MS + waitMs + LATE_MS)).toBe(false);
  });

  it('G-35 is waited for without end where keys alone are wanted and silence is never reported', () => {
    const times = new SessionTimes(MADE_MS, 0);
    times.closed(MADE_MS, 0, { ...listen, accept: 'keys', noInputMs: 0 }, false);
    expect(times.isAwaited(MADE_MS + 86_400_000)).toBe(true);
  });
});
