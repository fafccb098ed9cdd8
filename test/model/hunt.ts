// Plays random programs until one breaks a rule, shrinks it, and plays the smallest once more to write down what happened.
import fc from 'fast-check';
import { play, type PlayOptions } from './lab.ts';
import { program, type Program } from './program.ts';

/** What came of a hunt. */
export interface Hunt {
  /** Programs played, those of the shrinking not counted. */
  readonly interleavings: number;
  /** Undefined when every rule held. */
  readonly found: Found | undefined;
}

/** The smallest program that breaks a rule. */
export interface Found {
  readonly wrong: string;
  /** What makes the same hunt find it again. */
  readonly seed: number;
  /** The settings of the call, then everything that happened, one line each. */
  readonly exchange: readonly string[];
}

/** Plays `runs` random programs; the same seed plays the same ones. */
export async function hunt(runs: number, seed: number, options: Pick<PlayOptions, 'between'> = {}): Promise<Hunt> {
  const property = fc.asyncProperty(program, async (each) => (await play(each, options)).wrong === undefined);
  const details = await fc.check(property, { numRuns: runs, seed });
  const smallest = details.counterexample?.[0];
  if (!details.failed || smallest === undefined) return { interleavings: details.numRuns, found: undefined };
  const { wrong = 'nothing is wrong when it is played again', exchange } = await play(smallest, { ...options, isTraced: true });
  return { interleavings: details.numRuns, found: { wrong, seed, exchange: [settingsOf(smallest), ...exchange] } };
}

function settingsOf(smallest: Program): string {
  const { mode, voice, recognizer, slow, behaviours, welcomeBargeIn, maxDurationMs } = smallest;
  const waiting = [slow.voice ? 'voice' : '', slow.recognizer ? 'recognizer' : ''].filter((port) => port !== '');
  const bots = behaviours.map(({ pace, yields, prompts, deed }) => `${pace}/${String(yields)}+${String(prompts)}/${deed}`).join(' ');
  const slowPorts = waiting.length === 0 ? 'no port is slow' : `slow: ${waiting.join(', ')}`;
  return `(${mode} mode, voice ${voice}, recognizer ${recognizer}, ${slowPorts}, welcome can be cut: ${String(welcomeBargeIn)}, at most ${String(maxDurationMs)} ms, bot: ${bots})`;
}
