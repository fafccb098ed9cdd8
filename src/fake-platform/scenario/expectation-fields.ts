// What a scenario file can expect of a call, of its welcome, or of one step.
import { z } from 'zod';
import { FINDING_CODES } from '../caller/finding.ts';
import { textPattern } from '../caller/expectation.ts';

/** An object with these fields and no others. */
export function fields<Shape extends z.ZodRawShape>(what: string, shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys')
        return `unknown field ${issue.keys.map((key) => `"${key}"`).join(', ')}; ${what} has ${Object.keys(shape).join(', ')}`;
      return `${what} must be written as fields: ${Object.keys(shape).join(', ')}`;
    },
  });
}

/** A whole number of milliseconds. */
export function milliseconds(description: string, least = 0, most = 3_600_000): z.ZodNumber {
  return z
    .number({ error: 'give whole milliseconds' })
    .int({ error: 'give whole milliseconds' })
    .min(least, { error: `give at least ${String(least)} ms` })
    .max(most, { error: `give at most ${String(most)} ms` })
    .describe(description);
}

/** A text that is not empty. */
export function words(description: string, most = 2000): z.ZodString {
  return z
    .string({ error: 'write a text; one that looks like a number goes in quotes' })
    .min(1, { error: 'the text is empty' })
    .max(most, { error: `at most ${String(most)} characters` })
    .describe(description);
}

/** One of these words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  description: string,
  ...choices: Words
): z.ZodEnum<{ [Word in Words[number]]: Word }> {
  return z.enum(choices, { error: `write one of ${choices.join(', ')}` }).describe(description);
}

const PATTERN_FORM = 'Words that must stand in one prompt, in any case, or a regular expression such as `/nine to (five|six)/i`.';

/** Reports a text between slashes that is no valid regular expression. */
export function checkPattern(written: unknown, context: z.RefinementCtx): void {
  if (typeof written !== 'string') return;
  try {
    textPattern(written);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof RangeError ? error.message : 'this is no pattern' });
  }
}

/** Words, or a regular expression between slashes. */
export const PATTERN = words(PATTERN_FORM).superRefine(checkPattern);

/** A text, or several in the order in which they are heard. */
function heard(description: string) {
  return z
    .union([PATTERN, z.array(PATTERN).min(1).max(100)], { error: 'write a text, or a list of texts' })
    .describe(description)
    .optional();
}

const RECORDING = words('A WAV file of any rate; its path starts at the folder of this file.');

/** How many times something happens. */
export const COUNT = z.number({ error: 'give a whole number' }).int({ error: 'give a whole number' }).min(0).max(1000);

/** Expectations that the whole call and one step can both have. */
const SHARED = {
  heard: heard('What the server says, as far as it sends the text of its prompts; several texts in the order they are heard in.'),
  hears: z
    .union([RECORDING, z.array(RECORDING).min(1).max(20)], { error: 'write a file, or a list of files' })
    .describe('Recordings of which each stands in one reply, sample by sample, as a phone plays them.')
    .optional(),
  not_heard: heard('What the server must not say.'),
  prompts: z
    .union(
      [
        COUNT.describe('Exactly so many.'),
        fields('a number of prompts', {
          at_least: COUNT.describe('The least number.').optional(),
          at_most: COUNT.describe('The largest number.').optional(),
        }),
      ],
      { error: 'give a whole number, or at_least and at_most' },
    )
    .describe('How many prompts are heard. A reply that is streamed in pieces counts as one prompt.')
    .optional(),
  latency_below_ms: milliseconds(
    'Every reply begins sooner than this after the end of what the caller did, in real time at every pace.',
    1,
  ).optional(),
  gap_below_ms: milliseconds('No silence between two sounds of one reply is as long as this.', 1).optional(),
  not_clipped: z
    .literal(true, { error: 'write true, or leave it out' })
    .describe('No sound of the server is cut off at full scale.')
    .optional(),
  ends: oneOf(
    'How the call ends. `transferred` and `ended`: by the server, with a transfer or an end of the session. `hung_up`: by the caller, without a terminal event before. `lost`: the connection broke as `line` says.',
    'transferred',
    'ended',
    'hung_up',
    'lost',
  ).optional(),
  event_name: PATTERN.describe(
    'Name of the event with which the server transfers or ends the call, such as `transfer_requested`; words of it, or a pattern.',
  ).optional(),
  sends_event: heard('Name of a custom event that the server sends to the flow; several names in their order.'),
  with_data: z
    .record(z.string(), z.json().superRefine(checkPattern), { error: 'write name: value' })
    .describe('Members of the data that come with the transfer or the end, such as `summary`. A text between slashes is a pattern.')
    .optional(),
};

export const STEP_EXPECTATIONS = fields('an expectation of a step', {
  ...SHARED,
  dropped: z
    .literal(true, { error: 'write true, or leave it out' })
    .describe(
      'The platform drops keys of this step, or all of its speech, as during a prompt that may not be interrupted. Without it the platform must take them.',
    )
    .optional(),
});

export const WELCOME_EXPECTATIONS = fields('an expectation of the welcome', SHARED);

export const CALL_EXPECTATIONS = fields('an expectation of a call', {
  ...SHARED,
  allowed_findings: z
    .array(z.enum(FINDING_CODES, { error: 'there is no such finding' }))
    .max(FINDING_CODES.length)
    .describe('Breaches of the contract that do not fail this test. Without it none is allowed.')
    .optional(),
});

/** What a file can expect of a step, or of the welcome. */
export type StepExpectations = z.infer<typeof STEP_EXPECTATIONS>;
/** What a file can expect of a call. */
export type CallExpectations = z.infer<typeof CALL_EXPECTATIONS>;
