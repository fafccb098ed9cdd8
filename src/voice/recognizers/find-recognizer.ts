// From the operator's choice to a recognizer.
import type { Clock } from '../../base/clock.ts';
import { CommandRecognizer } from './command.ts';

/** What the operator chose. */
export interface RecognizerChoice {
  /** Program and arguments; empty: there is no recognizer. */
  readonly command: readonly string[];
  /** Longest time for one utterance, ms. */
  readonly timeoutMs: number;
}

/** The recognizer that was chosen, or undefined when none was. The caller closes it. */
export function findRecognizer({ command, timeoutMs }: RecognizerChoice, clock: Clock): CommandRecognizer | undefined {
  const [program, ...args] = command;
  return program === undefined ? undefined : new CommandRecognizer({ command: [program, ...args], clock, limitMs: timeoutMs });
}
