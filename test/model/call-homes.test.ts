// Random courses of several processes that share calls. `npm run check -- model --directory` plays thousands.
import { describe, expect, it } from 'vitest';
import { huntDirectory } from './directory-hunt.ts';

const RUNS = 100;
/** Once left an owner untold whom two others in a row had followed without writing anything. */
const CHAIN_SEED = 18_600;

describe('random courses of processes that die, freeze, are cut off from each other and lose the directory', () => {
  it.each([
    { seed: 1, runs: RUNS },
    { seed: CHAIN_SEED, runs: 1 },
  ])(
    'never leave a call with two homes for longer than a beat, nor with none: $runs from seed $seed',
    { timeout: 120_000 },
    async ({ seed, runs }) => {
      const { found, interleavings } = await huntDirectory(runs, seed);
      expect(found === undefined ? '' : found.exchange.join('\n')).toBe('');
      expect(interleavings).toBe(runs);
    },
  );
});
