// What a text or a value should be, as people write it: words, or a regular expression between slashes. Knows no calls.
import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../base/json.ts';

const SLASHES = /^\/(?<source>.+)\/(?<flags>[a-z]*)$/su;

/**
 * `/pattern/flags`, or words that must occur in the text, in any case.
 *
 * @throws RangeError with a sentence for the user when it is no regular expression.
 */
export function textPattern(written: string): RegExp {
  return slashed(written) ?? new RegExp(written.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`), 'iu');
}

/** Whether a value is as expected: a text between slashes is a pattern for texts, anything else must be equal. */
export function isExpectedValue(expected: JsonValue, found: JsonValue | undefined): boolean {
  const pattern = typeof expected === 'string' ? slashed(expected) : undefined;
  if (pattern !== undefined) return typeof found === 'string' && pattern.test(found);
  return isDeepStrictEqual(expected, found);
}

/**
 * The regular expression of a text between slashes; undefined for another text.
 *
 * @throws RangeError with a sentence for the user when it is not a valid one.
 */
function slashed(written: string): RegExp | undefined {
  const parts = SLASHES.exec(written)?.groups;
  if (parts === undefined) return undefined;
  try {
    // Without g and y, which keep state between matches.
    return new RegExp(parts['source'] ?? '', (parts['flags'] ?? '').replaceAll(/[gy]/gu, ''));
  } catch (cause) {
    throw new RangeError(`"${written}" is no regular expression: ${cause instanceof Error ? cause.message : 'no reason given'}`, { cause });
  }
}
