// How long a caller between two streams is waited for.
import { describe, expect, it } from 'vitest';
import { NextStream } from '../../../../src/session/turn/next-stream.ts';
import { TEST_SETTINGS } from '../../../support/engine.ts';

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
      (next: NextStream) => {
        next.closed(MADE_MS, 700);
      },
      700,
    ],
    [
      'of whom keys alone are wanted, until silence is reported (G-35, G-70)',
      (next: NextStream) => {
        next.listensFor({ kind: 'listen', accept: 'keys', noInputMs: 6000 });
        next.closed(MADE_MS, 700);
      },
      6700,
    ],
    [
      'of whom keys alone are wanted, for as long as the operator says where the bot does not',
      (next: NextStream) => {
        next.listensFor({ kind: 'listen', accept: 'keys' });
        next.closed(MADE_MS, 0);
      },
      listen.noInputMs,
    ],
    [
      'who is typing, until the last digit may come (G-54)',
      (next: NextStream) => {
        next.listensFor({ kind: 'listen', digits: 4 });
        next.keyPressed();
        next.closed(MADE_MS, 0);
      },
      4 * listen.interDigitMs,
    ],
    [
      'whose digits have come, no longer than after any other input',
      (next: NextStream) => {
        next.keyPressed();
        next.inputComplete();
        next.closed(MADE_MS, 0);
      },
      0,
    ],
    [
      'whose stream was cancelled, although prompts still play (G-16)',
      (next: NextStream) => {
        next.closed(MADE_MS - 1, 20_000);
        next.cancelled(MADE_MS);
      },
      0,
    ],
  ])('is waited for %s', (_who, happens, waitMs) => {
    const next = new NextStream(MADE_MS, listen);
    happens(next);
    expect(next.isAwaited(MADE_MS + waitMs + LATE_MS - 1)).toBe(true);
    expect(next.isAwaited(MADE_MS + waitMs + LATE_MS)).toBe(false);
  });

  it('G-35 is waited for without end where keys alone are wanted and silence is never reported', () => {
    const next = new NextStream(MADE_MS, listen);
    next.listensFor({ kind: 'listen', accept: 'keys', noInputMs: 0 });
    next.closed(MADE_MS, 0);
    expect(next.isAwaited(MADE_MS + 86_400_000)).toBe(true);
  });
});
