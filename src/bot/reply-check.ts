// Validates what a bot module returns before the engine trusts it: the module may be plain JavaScript.
import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { throughJson, type JsonValue } from '../base/json.ts';
import { LANGUAGE_TAG } from '../dialog/languages.ts';
import { MAX_DIGITS, type Prompt, type Reply } from '../dialog/reply.ts';
import { PATIENCE_LIMITS, type SpeechPatience } from '../speech/patience.ts';
import type { Answer, Keep } from './saying.ts';

/** Most prompts in one reply. */
const MAX_PROMPTS = 32;
/** Longest text of one prompt, characters. About two minutes of speech. */
const MAX_TEXT_CHARS = 2000;
/** Longest SSML of one prompt, characters. */
const MAX_SSML_CHARS = 8000;
/** Longest data for the platform with a transfer or an event, characters of JSON. */
const MAX_DATA_CHARS = 8192;
/** Deepest nesting of such data: the wire takes 32 levels, and the data of a transfer starts one level down. */
const MAX_DATA_LEVELS = 31;
/** Longest state, characters of JSON. The operator's limit is usually lower. */
const MAX_STATE_CHARS = 16_777_216;
/** Longest audio of one prompt, bytes of 8 kHz µ-law (five minutes). */
const MAX_AUDIO_BYTES = 2_400_000;

// Lone surrogates cannot be encoded as UTF-8; they become U+FFFD here instead of breaking the reply later.
const text = z
  .string()
  .max(MAX_TEXT_CHARS)
  .transform((value) => Buffer.from(value, 'utf8').toString('utf8'));
const language = z.string().regex(LANGUAGE_TAG, 'must be a BCP 47 tag such as es or es-MX').exactOptional();
const manner = { bargeIn: z.boolean(), ifSilentMs: z.int().min(1).max(60_000).exactOptional() };
const prompt = z.discriminatedUnion('kind', [
  z.object({
    ...manner,
    kind: z.literal('text'),
    text: text.refine((value) => value.trim() !== '', 'an empty text says nothing'),
    ssml: z.string().max(MAX_SSML_CHARS).exactOptional(),
    voice: z.string().min(1).max(100).exactOptional(),
    language,
    cache: z.boolean().exactOptional(),
  }),
  z.object({ ...manner, kind: z.literal('file'), file: z.string().min(1).max(255) }),
  z.object({
    ...manner,
    kind: z.literal('audio'),
    mulaw: z.instanceof(Uint8Array).refine((audio) => audio.length <= MAX_AUDIO_BYTES, 'more than five minutes of audio'),
  }),
]);
const prompts = z.array(prompt).max(MAX_PROMPTS);
const fields = z.unknown().transform((value, context) => {
  try {
    const json = throughJson(value, MAX_DATA_CHARS);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
      if (levelsOf(json) <= MAX_DATA_LEVELS) return json as Readonly<Record<string, JsonValue>>;
      context.addIssue({ code: 'custom', message: `must not nest deeper than ${String(MAX_DATA_LEVELS)} levels` });
      return z.NEVER;
    }
  } catch {
    // Falls through to the issue: every value without a JSON form gets the same error.
  }
  context.addIssue({ code: 'custom', message: `must be a plain JSON object of at most ${String(MAX_DATA_CHARS)} characters` });
  return z.NEVER;
});
const timeMs = z.int().min(0).max(3_600_000);
const patienceOf = (name: keyof SpeechPatience) => {
  const [least, largest] = PATIENCE_LIMITS[name];
  return z.int().min(least).max(largest).exactOptional();
};
const patience = z.strictObject({
  startMs: patienceOf('startMs'),
  interruptMs: patienceOf('interruptMs'),
  endSilenceMs: patienceOf('endSilenceMs'),
  resumeGraceMs: patienceOf('resumeGraceMs'),
  maxUtteranceMs: patienceOf('maxUtteranceMs'),
  preRollMs: patienceOf('preRollMs'),
});
const next = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('listen'),
    accept: z.enum(['speech', 'keys', 'both']).exactOptional(),
    digits: z.int().min(1).max(MAX_DIGITS).exactOptional(),
    interDigitMs: timeMs.exactOptional(),
    terminator: z.enum(['#', '*', 'none']).exactOptional(),
    noInputMs: timeMs.exactOptional(),
    wakeMs: z.int().min(100).max(3_600_000).exactOptional(),
    sensitive: z.boolean().exactOptional(),
    language,
    hints: z.array(z.string().min(1).max(100)).max(50).exactOptional(),
    event: z.strictObject({ name: z.string().min(1).max(200), metadata: fields.exactOptional() }).exactOptional(),
    speech: patience.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('transfer'),
    reason: text,
    summary: text.exactOptional(),
    routingHint: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'G-79: a letter, then letters, digits, _ or -, at most 64')
      .exactOptional(),
    fields: fields.exactOptional(),
  }),
  z.strictObject({ kind: z.literal('end'), outcome: text, summary: text.exactOptional() }),
]);
const decided = prompts.refine(
  (all) => all.every(({ ifSilentMs }) => ifSilentMs === undefined),
  'must be said at once: ifSilentMs is for what a handler yields',
);
const answer = z.object({ state: z.unknown(), reply: z.object({ prompts: decided, next }) });
const saying = z.object({ prompts: prompts.min(1) });

/**
 * The validated result of a replying handler, its state sent through JSON.
 *
 * @param maxStateBytes - limit of its state as JSON.
 * @throws AppError `bot_failed` that names the problem, never the values.
 */
export function checkAnswer(returned: unknown, maxStateBytes = Infinity): Answer<JsonValue> {
  const parsed = answer.safeParse(returned);
  if (!parsed.success) throw new AppError('bot_failed', `the bot returned no usable reply: ${problemsOf(parsed.error)}`);
  const { state } = parsed.data;
  const reply: Reply = parsed.data.reply;
  return { state: checkState(state, maxStateBytes), reply };
}

/**
 * A validated state without a reply, sent through JSON.
 *
 * @param maxBytes - limit of the state as JSON.
 * @throws AppError `bot_failed`.
 */
export function checkState(state: unknown, maxBytes = Infinity): JsonValue {
  let json: JsonValue;
  try {
    json = throughJson(state, MAX_STATE_CHARS);
  } catch (cause) {
    const problem = cause instanceof RangeError ? 'is too large for a record' : 'has no JSON form';
    throw new AppError('bot_failed', `the bot returned a state that ${problem}`, { cause });
  }
  const bytes = Buffer.byteLength(JSON.stringify(json));
  if (bytes <= maxBytes) return json;
  throw new AppError('bot_failed', 'the bot keeps more state than a snapshot may hold', { details: { bytes, limitBytes: maxBytes } });
}

/**
 * The validated state of a yielded checkpoint, sent through JSON; undefined for any other yield.
 *
 * @param maxStateBytes - limit of the state as JSON.
 * @throws AppError `bot_failed`.
 */
export function checkKeep(yielded: unknown, maxStateBytes = Infinity): Keep<JsonValue> | undefined {
  if (typeof yielded !== 'object' || yielded === null || !('keep' in yielded)) return undefined;
  return { keep: checkState(yielded.keep, maxStateBytes), durable: 'durable' in yielded && yielded.durable === true };
}

/**
 * The validated result of a `yield`: prompts to speak at once.
 *
 * @throws AppError `bot_failed`.
 */
export function checkSaying(yielded: unknown): readonly Prompt[] {
  const parsed = saying.safeParse(yielded);
  if (!parsed.success) throw new AppError('bot_failed', `the bot yielded something that cannot be said: ${problemsOf(parsed.error)}`);
  return parsed.data.prompts;
}

// Only paths, rules and names: a value in a message could be a digit or a person's name.
function problemsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.length === 0 ? 'result' : issue.path.map(String).join('.')} ${problemOf(issue)}`)
    .join('; ');
}

/** What authors forget, and what they should write. */
const MISSING: Readonly<Record<string, string>> = {
  'reply.next': 'is missing: end the reply with .listen(), .transfer() or .end()',
  reply: 'is missing: return go(state, reply)',
  state: 'is missing: return go(state, reply)',
};

function problemOf(issue: z.ZodError['issues'][number]): string {
  switch (issue.code) {
    case 'custom':
      return issue.message;
    case 'invalid_format':
      // The message of the pattern, if it has one.
      return issue.message;
    case 'invalid_type':
      return MISSING[issue.path.map(String).join('.')] ?? `must be of type ${issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return `must be at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
    case 'too_small':
      return `must be at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
    case 'invalid_union':
      return 'is none that exists';
    case 'unrecognized_keys':
      return `has members that do not exist: ${issue.keys.map(shownKey).join(', ')}`;
    default:
      return issue.code.replaceAll('_', ' ');
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' ? ' in number' : '';
}

/** A misspelled name helps the author; any other text could be what a caller said. */
function shownKey(key: string): string {
  return /^[A-Za-z_][A-Za-z_]{0,39}$/u.test(key) ? key : 'one that is no name';
}

/** The nesting depth of data: 1 for an object or list of plain values. */
function levelsOf(json: JsonValue): number {
  if (typeof json !== 'object' || json === null) return 0;
  return 1 + Object.values<JsonValue>(json).reduce<number>((deepest, member) => Math.max(deepest, levelsOf(member)), 0);
}
