// Turns an input into an event for the bot: recognizes utterances, turns spoken digits into keys, and adds how much was
// heard of the last reply. Knows no handler and no reply.
import { toAppError } from '../../base/errors.ts';
import type { ReplyingEvent, SpeechInput } from '../../bot/bot.ts';
import type { CallFacts } from '../../dialog/call.ts';
import type { Heard } from '../../dialog/heard.ts';
import type { Listen } from '../../dialog/reply.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { RunningRecognition } from '../turn/early-recognition.ts';
import type { Cut } from '../playout/playout.ts';
import type { Conversation } from '../conversation.ts';
import type { NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { spokenDigits } from './spoken-digits.ts';
import { wokenBy } from './waking.ts';
import type { TurnInput } from '../turn/turn-facts.ts';

/** What the bot has prepared for words that may turn out to be the whole input. */
export interface Prepared {
  /** The prepared value if the input is the same; `signal` stops the work. Otherwise undefined, and the work is stopped. */
  valueFor(text: string, heard: Heard, snapshot: Snapshot, signal: AbortSignal): unknown;
  stop(): void;
}

/** A complete input with what the caller had heard by then. */
export interface CompleteInput {
  readonly act: TurnInput;
  /** When the input was complete, monotonic ms; since then it may have waited for earlier inputs. */
  readonly completeAtMs: number;
  /** How much was heard of the last reply; corrected if the previous answer is never spoken. */
  readonly heard: Heard;
  /** Set when this speech has cut a reply that can resume. */
  readonly cut?: Cut | undefined;
  /** Set when recognition began before the end of the input. */
  readonly recognition?: RunningRecognition | undefined;
  /** Set when the bot has prepared something for this input. */
  readonly prepared?: Prepared | undefined;
}

export interface InputContext {
  readonly parts: EngineParts;
  readonly conversation: Conversation;
  readonly turn: NamedTurn;
  /** Stops the recognizer. */
  readonly signal: AbortSignal;
}

/** The event of a session start; also used when a call starts over, whatever the input. */
export function startEvent({ act }: CompleteInput, { parameters }: Pick<CallFacts, 'parameters'>): ReplyingEvent {
  if (act.kind === 'session_start') return { type: 'session_start', name: act.name, parameters: act.parameters };
  return { type: 'session_start', name: '', parameters };
}

/**
 * The event of an input.
 *
 * @returns undefined for a false interruption: speech without recognized words that cut a prompt.
 */
export async function callerEvent(input: CompleteInput, context: InputContext): Promise<ReplyingEvent | undefined> {
  const { act, heard } = input;
  const { parts, conversation } = context;
  const { snapshot } = conversation;
  switch (act.kind) {
    case 'session_start':
      return startEvent(input, snapshot.call);
    case 'dtmf':
      return { type: 'dtmf_input', by: 'keys', digits: withoutTerminator(act.digits, context), heard };
    case 'no_input':
      return wokenBy(input, conversation, parts.settings.listen) ?? { type: 'no_input', count: snapshot.misses + 1, heard };
    case 'custom_event':
      return { type: 'custom_event', name: act.name, parameters: act.parameters, heard };
    case 'speech': {
      const { clock, observer } = parts;
      const waitingSinceMs = clock.monotonicMs();
      const { failure, ...recognized } = await recognize(act.utterance, input.recognition, context);
      const nowMs = clock.monotonicMs();
      if (recognized.understood !== 'not_asked' && !context.signal.aborted)
        observer.recognized?.(conversation.call, context.turn.id, recognized.understood, nowMs - waitingSinceMs);
      const said: SpeechInput<unknown> = { type: 'speech_input', utterance: act.utterance, ...recognized, heard, prepared: undefined };
      const tookMs = nowMs - input.completeAtMs;
      const isSensitive = isSensitiveInput(snapshot, said);
      conversation.recorder?.recognized(context.turn, { text: recognized.text, tookMs, failure }, isSensitive);
      if (recognized.text !== undefined && !isSensitive) observer.wordsUnderstood?.(conversation.call, context.turn.id, recognized.text);
      if (recognized.understood === 'nothing' && input.cut !== undefined && parts.settings.resumesPrompts) {
        input.prepared?.stop();
        return undefined;
      }
      const { text } = recognized;
      const digits =
        text !== undefined && mayBeSpoken(snapshot.listen)
          ? spokenDigits(text, conversation.callerLanguage ?? parts.settings.language)
          : undefined;
      const prepared = digits === undefined ? input.prepared?.valueFor(text ?? '', heard, snapshot, context.signal) : undefined;
      const event = { ...said, prepared };
      if (parts.settings.logsWords) logWords(event, context);
      if (digits === undefined) return event;
      input.prepared?.stop();
      return { type: 'dtmf_input', by: 'speech', digits: withoutTerminator(digits, context), heard };
    }
  }
}

/**
 * Whether an input is sensitive (G-83): it was requested as such, or the caller has not heard the next question yet, so that
 * it may be the rest of a sensitive input.
 *
 * @param event - undefined when the deadline passed before the event was known.
 */
export function isSensitiveInput(
  { listen, lastWasSensitive }: Pick<Snapshot, 'listen' | 'lastWasSensitive'>,
  event: ReplyingEvent | undefined,
): boolean {
  return listen.sensitive === true || (lastWasSensitive === true && mayBeItsRest(event));
}

/** Whether an input may be the rest of the previous one: a caller who has heard nothing of the last reply still answers the earlier one. */
function mayBeItsRest(event: ReplyingEvent | undefined): boolean {
  if (event === undefined) return true;
  return event.type !== 'session_start' && event.heard.ms === 0 && !event.heard.complete;
}

interface Recognized extends Pick<SpeechInput, 'text' | 'understood'> {
  /** Set when the recognition failed: the error code. */
  readonly failure?: string;
}

async function recognize(
  utterance: Utterance,
  begun: RunningRecognition | undefined,
  { parts, conversation, turn, signal }: InputContext,
): Promise<Recognized> {
  if (parts.recognizer === undefined || conversation.bot.recognition === 'none') return { text: undefined, understood: 'not_asked' };
  try {
    const text = await (begun?.text(signal) ?? parts.recognizer.recognize(utterance, signal, conversation.expected));
    return text === undefined || text.trim() === '' ? { text: undefined, understood: 'nothing' } : { text, understood: 'words' };
  } catch (thrown) {
    // Cancelled together with the turn, so it is no failure.
    if (signal.aborted) return { text: undefined, understood: 'failed' };
    // Not fatal, because the bot still gets the audio and can ask again.
    const error = toAppError(thrown, 'recognition_failed');
    parts.log.warn({ ...turn.logIds, code: error.code, err: error }, 'the utterance goes to the bot without text');
    return { text: undefined, understood: 'failed', failure: error.code };
  }
}

/** Whether the caller may speak the requested digits. */
function mayBeSpoken({ digits, accept }: Listen): boolean {
  return digits !== undefined && accept !== 'keys';
}

function logWords(event: SpeechInput<unknown>, { parts, conversation, turn }: InputContext): void {
  const { understood, text } = event;
  // Sensitive input is never logged (G-83).
  const words = isSensitiveInput(conversation.snapshot, event) ? undefined : text;
  parts.log.info({ event: 'utterance_understood', understood, words, ...turn.logIds }, 'an utterance was recognized');
}

// G-67: the platform may send the terminator; bots never get it.
function withoutTerminator(digits: string, { conversation, parts }: InputContext): string {
  const terminator = conversation.snapshot.listen.terminator ?? parts.settings.listen.terminator;
  // `none` never matches.
  return digits.endsWith(terminator) ? digits.slice(0, -1) : digits;
}
