// What a call is expected to have done, as one option says it, and whether it did. Knows results, no calls.
import type { CallOutcome } from './outcome.ts';
import type { Reply } from './turn.ts';

/** One expectation, with the words it was written in. */
export type Expectation = { readonly written: string } & (
  | { readonly kind: 'text'; readonly pattern: RegExp }
  | { readonly kind: 'outcome'; readonly outcome: 'transferred' | 'ended' }
  | { readonly kind: 'latency'; readonly belowMs: number }
);

/** An expectation that was not met, and what was there instead. */
export interface Unmet {
  readonly expected: string;
  readonly found: string;
}

/** The part of a call's result that expectations look at. */
export interface Expectable {
  readonly outcome: CallOutcome;
  readonly heardTexts: readonly string[];
  readonly replies: readonly Reply[];
}

/**
 * Reads one expectation: `text:/pattern/flags`, `text:words`, `transfer`, `end`, `latency<800ms` or `latency<1.5s`.
 *
 * @throws RangeError with a sentence for the user when the text is none of these.
 */
export function parseExpectation(written: string): Expectation {
  if (written === 'transfer') return { written, kind: 'outcome', outcome: 'transferred' };
  if (written === 'end') return { written, kind: 'outcome', outcome: 'ended' };
  const latency = /^latency\s*<\s*(?<number>\d+(?:\.\d+)?)\s*(?<unit>ms|s)$/u.exec(written)?.groups;
  if (latency !== undefined) {
    return { written, kind: 'latency', belowMs: Number(latency['number']) * (latency['unit'] === 's' ? 1000 : 1) };
  }
  if (written.startsWith('text:') && written.length > 'text:'.length)
    return { written, kind: 'text', pattern: patternOf(written.slice('text:'.length)) };
  throw new RangeError(`"${written}" is no expectation: write text:/pattern/i, text:words, transfer, end or latency<800ms`);
}

function patternOf(text: string): RegExp {
  const parts = /^\/(?<source>.+)\/(?<flags>[a-z]*)$/su.exec(text)?.groups;
  if (parts === undefined) return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`), 'iu');
  try {
    // Without g and y, which would make a pattern remember where it was.
    return new RegExp(parts['source'] ?? '', (parts['flags'] ?? '').replaceAll(/[gy]/gu, ''));
  } catch (cause) {
    throw new RangeError(`"${text}" is no regular expression: ${cause instanceof Error ? cause.message : 'no reason given'}`, { cause });
  }
}

/** The expectations that a call did not meet. Texts must be heard in the order they are expected in. */
export function unmetExpectations(expectations: readonly Expectation[], call: Expectable): readonly Unmet[] {
  const unmet: Unmet[] = [];
  let from = 0;
  for (const expectation of expectations) {
    const { written } = expectation;
    switch (expectation.kind) {
      case 'outcome':
        if (call.outcome !== expectation.outcome) unmet.push({ expected: written, found: `the call was ${call.outcome}` });
        break;
      case 'latency':
        unmet.push(...lateReplies(call.replies, expectation.belowMs, written));
        break;
      case 'text': {
        const at = call.heardTexts.findIndex((text, index) => index >= from && expectation.pattern.test(text));
        if (at === -1) unmet.push({ expected: written, found: heardAfter(call.heardTexts, from) });
        else from = at + 1;
        break;
      }
    }
  }
  return unmet;
}

function lateReplies(replies: readonly Reply[], belowMs: number, expected: string): readonly Unmet[] {
  const measured = replies.filter((reply) => reply.latencyMs !== undefined);
  if (measured.length === 0) return [{ expected, found: 'no reply was measured' }];
  return measured
    .filter((reply) => (reply.latencyMs ?? 0) >= belowMs)
    .map((reply) => ({ expected, found: `the reply to ${reply.kind} took ${String(Math.round(reply.latencyMs ?? 0))} ms` }));
}

function heardAfter(texts: readonly string[], from: number): string {
  if (texts.length === 0) return 'the server gave no text of its prompts';
  const rest = texts.slice(from);
  return rest.length === 0 ? 'nothing more was said' : `heard ${rest.map((text) => `"${text}"`).join(', ')}`;
}
