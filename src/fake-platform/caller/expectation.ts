// What a call, or one step of it, should cause: the same model for options of the command line and for scenario
// files. Knows no results; expectation-check.ts decides whether an expectation is met.
import type { JsonValue } from '../../base/json.ts';
import type { FindingCode } from './finding.ts';
import { isDeepStrictEqual } from 'node:util';

const SLASHES = /^\/(?<source>.+)\/(?<flags>[a-z]*)$/su;

/**
 * The regular expression of `/pattern/flags`, or of words that must occur in the text, ignoring case.
 *
 * @throws RangeError with a sentence for the user when the regular expression is not valid.
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
 * @throws RangeError with a sentence for the user when the regular expression is not valid.
 */
function slashed(written: string): RegExp | undefined {
  const parts = SLASHES.exec(written)?.groups;
  if (parts === undefined) return undefined;
  try {
    // Without the flags g and y, which keep state between matches.
    return new RegExp(parts['source'] ?? '', (parts['flags'] ?? '').replaceAll(/[gy]/gu, ''));
  } catch (cause) {
    throw new RangeError(`"${written}" is no regular expression: ${cause instanceof Error ? cause.message : 'no reason given'}`, { cause });
  }
}

/** The intended ways for a call to end. `hung_up`: by the caller, without a terminal event. `lost`: see `LineConditions`. */
export type ExpectedOutcome = 'transferred' | 'ended' | 'hung_up' | 'lost';

/** One expectation, with the words the user wrote. */
export type Expectation = { readonly written: string } & (
  | { readonly kind: 'text'; readonly pattern: RegExp }
  | { readonly kind: 'no_text'; readonly pattern: RegExp }
  | { readonly kind: 'outcome'; readonly outcome: ExpectedOutcome }
  /** A member of the data beside the terminal event, such as the summary of a transfer (G-79); `isJson`: `value` may be its JSON text. */
  | { readonly kind: 'data'; readonly name: string; readonly value: JsonValue; readonly isJson?: boolean }
  | { readonly kind: 'latency'; readonly belowMs: number }
  /** Every silence between two sounds of one reply is shorter. */
  | { readonly kind: 'gap'; readonly belowMs: number }
  /** No prompt clips. The call must collect facts about the sound of its replies. */
  | { readonly kind: 'no_clipping' }
  /** One reply contains this sound, 8 kHz. The call must keep the samples of its replies. */
  | { readonly kind: 'sound'; readonly known: Int16Array }
  /** The event with which the server ends the call has this name (G-79). */
  | { readonly kind: 'ending_name'; readonly pattern: RegExp }
  /** The server sends a custom event of this name to the flow (G-73). Several must come in the order of their expectations. */
  | { readonly kind: 'custom_event'; readonly pattern: RegExp }
  /** Number of prompts heard; a streamed reply counts as one. */
  | { readonly kind: 'prompts'; readonly least: number; readonly most: number }
  /** No breach of the contract except these. */
  | { readonly kind: 'no_findings'; readonly allowed: readonly FindingCode[] }
  /** The bot fails, and the server says so: see {@link Reply.isApology}. */
  | { readonly kind: 'apology' }
  /** The step begins while a prompt is heard. */
  | { readonly kind: 'interruption' }
  /** The platform takes what the caller says or presses in the step, or drops it (G-51). */
  | { readonly kind: 'input'; readonly isTaken: boolean }
);

/** The forms of an expectation on a command line, for help texts and messages. */
export const EXPECTATION_FORMS =
  'text:/pattern/i, text:words, no-text:words, transfer, end, hangup, data:name=value, latency<800ms, gap<100ms, prompts=2, apology, no-clipping or no-findings';

/**
 * Reads one expectation in one of the {@link EXPECTATION_FORMS}. A `data` value between slashes is a pattern;
 * a number, or anything else that is not a text, is written as JSON.
 *
 * @throws RangeError with a sentence for the user when `written` has none of these forms.
 */
export function parseExpectation(written: string): Expectation {
  switch (written) {
    case 'transfer':
      return { written, kind: 'outcome', outcome: 'transferred' };
    case 'end':
      return { written, kind: 'outcome', outcome: 'ended' };
    case 'hangup':
      return { written, kind: 'outcome', outcome: 'hung_up' };
    case 'apology':
      return { written, kind: 'apology' };
    case 'no-clipping':
      return { written, kind: 'no_clipping' };
    case 'no-findings':
      return { written, kind: 'no_findings', allowed: [] };
  }
  const expectation = parseText(written) ?? parseNumber(written) ?? parseData(written);
  if (expectation === undefined) throw new RangeError(`"${written}" is no expectation: write ${EXPECTATION_FORMS}`);
  return expectation;
}

function parseText(written: string): Expectation | undefined {
  const { no, text } = /^(?<no>no-)?text:(?<text>.+)$/su.exec(written)?.groups ?? {};
  return text === undefined ? undefined : { written, kind: no === undefined ? 'text' : 'no_text', pattern: textPattern(text) };
}

function parseNumber(written: string): Expectation | undefined {
  const prompts = /^prompts\s*=\s*(?<count>\d{1,4})$/u.exec(written)?.groups?.['count'];
  if (prompts !== undefined) return { written, kind: 'prompts', least: Number(prompts), most: Number(prompts) };
  const { what, number, unit } = /^(?<what>latency|gap)\s*<\s*(?<number>\d+(?:\.\d+)?)\s*(?<unit>ms|s)$/u.exec(written)?.groups ?? {};
  if (what === undefined) return undefined;
  return { written, kind: what === 'gap' ? 'gap' : 'latency', belowMs: Number(number) * (unit === 's' ? 1000 : 1) };
}

function parseData(written: string): Expectation | undefined {
  const { name, value } = /^data:(?<name>[^=]+)=(?<value>.*)$/su.exec(written)?.groups ?? {};
  if (name === undefined || value === undefined) return undefined;
  if (value.startsWith('/')) textPattern(value);
  return { written, kind: 'data', name, value, isJson: true };
}
