// Who said what in a call, for the platform to keep where the operator asks for it (G-7B). Only as much as a snapshot can carry, and
// nothing of what was sensitive: neither the caller's input nor what the bot said from the question on, because it may repeat it.
import type { ReplyingEvent } from '../../bot/bot.ts';

/** One line of a transcript. */
export interface TranscriptLine {
  readonly who: 'bot' | 'caller';
  readonly text: string;
}

/** Most characters that are kept of a call; the oldest lines go first. */
const MAX_CHARS = 16_000;
const WITHHELD = '[withheld]';

/** What is known when the caller has acted. */
export interface TranscriptStep {
  readonly event: ReplyingEvent;
  /** This input was asked for as sensitive, or may be the rest of one that was (G-83). */
  readonly isSensitive: boolean;
  /** A sensitive input was asked for, now or earlier in the call. */
  readonly wasSensitive: boolean;
}

/**
 * The transcript after the answer to an event.
 *
 * @param event - undefined when not even that was known in time.
 * @param isSensitive - it is a sensitive input.
 * @param lastTexts - of a reply that ends the call: nobody says later what was heard of it.
 */
export function transcriptAfter(
  { transcript, sensitive }: { readonly transcript: readonly TranscriptLine[]; readonly sensitive: boolean },
  event: ReplyingEvent | undefined,
  isSensitive: boolean,
  lastTexts: readonly string[],
): readonly TranscriptLine[] {
  const lines = event === undefined ? transcript : withStep(transcript, { event, isSensitive, wasSensitive: sensitive });
  return withBotLine(lines, lastTexts.join(' '), sensitive);
}

/** The transcript with what the caller heard of the last reply and what he did then. */
export function withStep(
  lines: readonly TranscriptLine[],
  { event, isSensitive, wasSensitive }: TranscriptStep,
): readonly TranscriptLine[] {
  if (event.type === 'session_start') return lines;
  return withLine(withBotLine(lines, event.heard.text, wasSensitive), { who: 'caller', text: isSensitive ? WITHHELD : actOf(event) });
}

/** The transcript with something the bot said. */
export function withBotLine(lines: readonly TranscriptLine[], text: string, wasSensitive: boolean): readonly TranscriptLine[] {
  return text === '' ? lines : withLine(lines, { who: 'bot', text: wasSensitive ? WITHHELD : text });
}

/** The form in which the platform gets it: one line each. */
export function transcriptText(lines: readonly TranscriptLine[]): string {
  return lines.map(({ who, text }) => `${who}: ${text}`).join('\n');
}

function actOf(event: Exclude<ReplyingEvent, { readonly type: 'session_start' }>): string {
  switch (event.type) {
    case 'speech_input':
      return event.text ?? '[speech]';
    case 'dtmf_input':
      return `[keys] ${event.digits}`;
    case 'no_input':
      return '[silence]';
    case 'custom_event':
      return '[event]';
  }
}

function withLine(lines: readonly TranscriptLine[], line: TranscriptLine): readonly TranscriptLine[] {
  // Half a character at the cut becomes U+FFFD instead of breaking the response.
  const text = Buffer.from(line.text.slice(0, MAX_CHARS)).toString().replaceAll('\n', ' ');
  const all = [...lines, { ...line, text }];
  let chars = 0;
  const newestTooMany = all.findLastIndex(({ text }) => {
    chars += text.length;
    return chars > MAX_CHARS;
  });
  return all.slice(newestTooMany + 1);
}
