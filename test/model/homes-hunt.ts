// Plays random calls over several processes until one breaks a rule, shrinks it, and plays the smallest once more to write down what
// happened.
import fc from 'fast-check';
import { playHomes } from './homes-lab.ts';
import { homesProgram } from './homes-program.ts';
import type { Hunt } from './hunt.ts';

/** Plays `runs` random programs; the same seed plays the same ones. @param options - see {@link playHomes}. */
export async function huntHomes(runs: number, seed: number, options: Parameters<typeof playHomes>[1] = {}): Promise<Hunt> {
  const property = fc.asyncProperty(homesProgram, async (each) => (await playHomes(each, options)).wrong === undefined);
  const details = await fc.check(property, { numRuns: runs, seed });
  const smallest = details.counterexample?.[0];
  if (!details.failed || smallest === undefined) return { interleavings: details.numRuns, found: undefined };
  const { wrong = 'nothing is wrong when it is played again', exchange } = await playHomes(smallest, options);
  return { interleavings: details.numRuns, found: { wrong, seed, exchange } };
}
