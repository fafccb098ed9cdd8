// The behaviour of callers and of their lines, as options that every command with calls shares. Knows no call.
import { InvalidArgumentError, type Command } from 'commander';
import { wholeNumber } from '../../base/terminal/option-values.ts';
import { checkConditions, type LineConditions } from '../lines/conditions/line-conditions.ts';
import type { SlowReader } from '../lines/conditions/slow-reading.ts';
import { PLATFORM_NO_INPUT_MS } from '../lines/wire-rules.ts';

export interface CallerFlags {
  /** ms until silence is reported; 0 never. */
  readonly silenceAfter: number;
  readonly repeatLostTurns?: true;
  readonly models?: string;
}

export interface LineFlags {
  readonly jitter?: number;
  readonly burst?: number;
  readonly loseAfter?: number;
  readonly slowReader?: SlowReader;
  readonly seed: number;
}

/**
 * Adds options to a command: for silence, for turns that were lost with a server, and for fake models that are told the callers' words.
 *
 * @param more - appended to the help of the silence option.
 */
export function withCallerOptions(command: Command, more = ''): Command {
  return command
    .option(
      '--silence-after <ms>',
      `report silence after so long where the server cannot say when, on a WebSocket; 0 never${more}`,
      wholeNumber,
      PLATFORM_NO_INPUT_MS,
    )
    .option(
      '--repeat-lost-turns',
      'say a turn again on another RPC when its own is lost, 3 times at most; on gRPC alone, and not known of the platform (default: the call fails)',
    )
    .option('--models <url>', 'tell the fake models there what is said, so that their recognizer understands it; see `parley models`');
}

/** Adds the options for the quality of the line to a command. */
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

/** The conditions from the options; undefined for a good line. @throws RangeError with a sentence for the user. */
export function lineConditionsOf({ jitter, burst, loseAfter, slowReader: reader, seed }: LineFlags): LineConditions | undefined {
  if (jitter === undefined && burst === undefined && loseAfter === undefined && reader === undefined) return undefined;
  const conditions: LineConditions = { seed, jitterMs: jitter, burstMs: burst, loseAfterMs: loseAfter, slowReader: reader };
  checkConditions(conditions);
  return conditions;
}

function slowReader(text: string): SlowReader {
  const parts = /^(?<number>\d{1,7})(?<unit>ms|B\/s)$/u.exec(text)?.groups;
  if (parts === undefined) throw new InvalidArgumentError('Write a pause such as 3000ms or a speed such as 4000B/s.');
  const number = Number(parts['number']);
  return parts['unit'] === 'ms' ? { pauseMs: number } : { bytesPerSecond: number };
}
