// One call over several real engines with real homes: random deaths, pauses and stops. `npm run check -- model` plays thousands.
import { describe, expect, it } from 'vitest';
import { huntHomes } from './homes-hunt.ts';
import { playHomes } from './homes-lab.ts';

const RUNS = 20;
/** The same calls in every test run; the command draws a seed of its own. */
const SEED = 1;
/** Longer than the hunt takes on a busy machine. */
const LIMIT_MS = 300_000;

describe('a call over several processes', () => {
  it(
    'is answered once and forgets nothing, whichever of them die, stand still and stop',
    async () => {
      const { found, interleavings } = await huntHomes(RUNS, SEED);
      expect(found === undefined ? '' : [found.wrong, ...found.exchange].join('\n')).toBe('');
      expect(interleavings).toBe(RUNS);
    },
    LIMIT_MS,
  );

  it(
    'would be found out if its bot forgot something',
    async () => {
      const { found } = await huntHomes(RUNS, SEED, { forgets: true });
      expect(found?.wrong).toMatch(/G-15/u);
    },
    LIMIT_MS,
  );

  it('G-13 keeps one home while one of its streams cannot move, although another could', async () => {
    const { wrong, exchange } = await playHomes({
      acts: [
        { kind: 'turn', at: 0, brings: 'nothing' },
        { kind: 'drain', at: 0 },
        { kind: 'turn', at: 1, brings: 'nothing' },
        { kind: 'wait', ms: 300 },
        { kind: 'turn', at: 0, brings: 'key' },
      ],
    });
    expect(wrong).toBeUndefined();
    expect(exchange).toContain('turn 4 (key) is at p1');
  });

  it('G-75 tells the bot of one end when a home that stops refuses to begin a conversation anew', async () => {
    const { wrong, exchange } = await playHomes({
      acts: [
        { kind: 'turn', at: 0, brings: 'long' },
        { kind: 'turn', at: 0, brings: 'key_late' },
        { kind: 'drain', at: 0 },
        { kind: 'turn', at: 0, brings: 'bye' },
        { kind: 'wait', ms: 2000 },
        { kind: 'turn', at: 0, brings: 'start' },
      ],
    });
    expect(wrong).toBeUndefined();
    expect(exchange).toContain('turn 5 is refused: shutting_down');
  });
});
