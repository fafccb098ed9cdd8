// Parses option values as users write them. An invalid value is refused with a sentence for the user.
import { InvalidArgumentError } from 'commander';

/** A whole number of at most nine digits. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/u.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

/** The length of a call, 1 s to an hour; far longer ones would be beyond any timer. */
export function callSeconds(text: string): number {
  const seconds = wholeNumber(text);
  if (seconds < 1 || seconds > 3600) throw new InvalidArgumentError('Give a number from 1 to 3600.');
  return seconds;
}

/** Reads whole numbers between two bounds. */
export function wholeNumberFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/u.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`Give a whole number from ${String(least)} to ${String(most)}.`);
    return number;
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** A time such as `30s`, `10m` or `2h`, from a second to a day. @returns ms. */
export function durationMs(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([smh])$/u.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit] ?? NaN);
  if (!(ms >= 1000 && ms <= 86_400_000)) throw new InvalidArgumentError('Give a time from 1s to 24h, such as 10m.');
  return ms;
}

/** How much faster than real time: a number from 1 to 50. */
export function paceOf(text: string): number {
  const pace = Number(text);
  if (!/^\d{1,2}(?:\.\d{1,3})?$/u.test(text) || pace < 1 || pace > 50) throw new InvalidArgumentError('Give a number from 1 to 50.');
  return pace;
}

/** Adds a value of an option that may be repeated. */
export function repeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
