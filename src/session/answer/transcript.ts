// The transcript of a call, sent to the platform if the operator enables it (G-7B). No longer than a snapshot can carry, and
// without sensitive content: from a sensitive question on it omits the caller's answer and the bot's prompts, which may
// repeat the answer.
import type { CallerEvent, ReplyingEvent } from '../../bot/bot.ts';

/** One line of a transcript. */
export interface TranscriptLine {
  readonly who: 'bot' | 'caller';
  readonly text: string;
}

/** Most characters of a transcript; the oldest lines are dropped first. */
const MAX_CHARS = 16_000;
const WITHHELD = '[withheld]';

export interface TranscriptStep {
  readonly event: ReplyingEvent;
  /** Whether this input was requested as sensitive, or may be the rest of a sensitive one (G-83). */
  readonly isSensitive: boolean;
  /** Whether a sensitive input has been requested in this call. */
  readonly wasSensitive: boolean;
}

/**
 * The transcript after the answer to an event.
 *
 * @param event - undefined when the deadline passed before the event was known.
 * @param isSensitive - whether the input is sensitive.
 * @param lastTexts - texts of a reply that ends the call, because no later event reports how much of them was heard.
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

/** Adds the heard part of the last reply, and then the input. */
export function withStep(
  lines: readonly TranscriptLine[],
  { event, isSensitive, wasSensitive }: TranscriptStep,
): readonly TranscriptLine[] {
  if (event.type === 'session_start') return lines;
  const heard = withBotLine(lines, event.heard.text, wasSensitive);
  return event.type === 'woken' ? heard : withLine(heard, { who: 'caller', text: isSensitive ? WITHHELD : actOf(event) });
}

/** Adds a line for the bot. */
export function withBotLine(lines: readonly TranscriptLine[], text: string, wasSensitive: boolean): readonly TranscriptLine[] {
  return text === '' ? lines : withLine(lines, { who: 'bot', text: wasSensitive ? WITHHELD : text });
}

/** The transcript as text, one line each. */
export function transcriptText(lines: readonly TranscriptLine[]): string {
  return lines.map(({ who, text }) => `${who}: ${text}`).join('\n');
}

function actOf(event: CallerEvent<unknown>): string {
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
  // Replaces a lone surrogate, which the cut may leave, with U+FFFD.
  const text = Buffer.from(line.text.slice(0, MAX_CHARS)).toString().replaceAll('\n', ' ');
  const all = [...lines, { ...line, text }];
  let chars = 0;
  const newestTooMany = all.findLastIndex(({ text }) => {
    chars += text.length;
    return chars > MAX_CHARS;
  });
  return all.slice(newestTooMany + 1);
}
