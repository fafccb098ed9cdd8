// How good the line of a call is, as options that every command with calls shares. Knows no call.
import { InvalidArgumentError, type Command } from 'commander';
import { checkConditions, type LineConditions } from '../lines/conditions/line-conditions.ts';
import { wholeNumber } from '../../base/terminal/option-values.ts';

/** The options as they were given. */
export interface LineFlags {
  readonly jitter?: number;
  readonly burst?: number;
  readonly loseAfter?: number;
  readonly slowReader?: LineConditions['slowReader'];
  readonly seed: number;
}

/** Adds the options to a command. */
export function withLineOptions(command: Command): Command {
  return command
    .option('--jitter <ms>', 'line: what the caller sends is late by a random time up to this', wholeNumber)
    .option('--burst <ms>', 'line: what the caller sends is held back and sent at once, every so often', wholeNumber)
    .option('--lose-after <ms>', 'line: the connection breaks at this time of the call', wholeNumber)
    .option(
      '--slow-reader <how>',
      'line: 3000ms stops reading behind the first CHUNK of a reply; 4000B/s reads CHUNKs no faster',
      slowReader,
    )
    .option('--seed <n>', 'the same number makes the same line again', wholeNumber, 1);
}

/**
 * The conditions that were asked for; undefined for a good line.
 *
 * @throws RangeError with a sentence for the user.
 */
export function lineConditionsOf({ jitter, burst, loseAfter, slowReader: reader, seed }: LineFlags): LineConditions | undefined {
  if (jitter === undefined && burst === undefined && loseAfter === undefined && reader === undefined) return undefined;
  const conditions: LineConditions = {
    seed,
    ...(jitter === undefined ? {} : { jitterMs: jitter }),
    ...(burst === undefined ? {} : { burstMs: burst }),
    ...(loseAfter === undefined ? {} : { loseAfterMs: loseAfter }),
    ...(reader === undefined ? {} : { slowReader: reader }),
  };
  checkConditions(conditions);
  return conditions;
}

function slowReader(text: string): NonNullable<LineConditions['slowReader']> {
  const parts = /^(?<number>\d{1,7})(?<unit>ms|B\/s)$/u.exec(text)?.groups;
  if (parts === undefined) throw new InvalidArgumentError('Write a pause such as 3000ms or a speed such as 4000B/s.');
  const number = Number(parts['number']);
  return parts['unit'] === 'ms' ? { pauseMs: number } : { bytesPerSecond: number };
}
