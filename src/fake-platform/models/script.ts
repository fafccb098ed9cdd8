// The script of fake models: recognized texts, answers, delays and faults.
import { parse } from 'yaml';
import { z } from 'zod';

/** A time in ms, as its median and its 95th percentile. */
const TIMES = z
  .tuple([z.number().positive().max(60_000), z.number().positive().max(60_000)])
  .refine(([median, p95]) => median <= p95, 'the first is the median, and the second, which 95 of 100 stay below, is no smaller');

const RULE = z
  .strictObject({
    /**
     * Matches the caller's words or, with `after`, the tool's result: a text in upper or lower case, or a pattern between slashes.
     * Undefined: matches everything.
     */
    when: z.string().min(1).optional(),
    /** The requested model, so that one script can play the bot, its callers and their judge. Undefined: any model. */
    model: z.string().min(1).optional(),
    /** The tool that must have run last. Undefined: the caller must have spoken last, unless `when` is undefined, too. */
    after: z.string().min(1).optional(),
    say: z.string().min(1).optional(),
    use: z.string().min(1).optional(),
    /** The input of the tool. */
    input: z.record(z.string(), z.json()).optional(),
  })
  .refine(({ say, use }) => say !== undefined || use !== undefined, 'needs `say`, `use` or both')
  .refine(({ use, input }) => use !== undefined || input === undefined, '`input` is for `use`');

const FAULT = z
  .strictObject({
    on: z.enum(['chat', 'recognition', 'speech', 'realtime']),
    /** Number of the request among those to this service, from 1. */
    nth: z.int().min(1),
    /**
     * `error` answers with `status`; `hang` never answers; `cut` breaks off in the middle; `empty` sends no content; `torn` sends invalid
     * JSON.
     */
    kind: z.enum(['error', 'hang', 'cut', 'empty', 'torn']),
    /** HTTP status. Default 503. */
    status: z.int().min(400).max(599).optional(),
  })
  .refine(({ kind, status }) => kind === 'error' || status === undefined, '`status` is for `error`');

const SCRIPT = z.strictObject({
  /** Seed of the delays. Default 1. */
  seed: z.int().optional(),
  /**
   * Recognized texts for callers who do not announce their words, one for each input; later inputs are not understood. `…` in a text marks
   * a pause of the caller, which only matters to a streaming recognizer.
   */
  heard: z.array(z.string()).max(10_000).optional(),
  /** Words per second that a streaming recognizer sends while the caller speaks. Undefined: it sends words only at pauses. */
  words_per_second: z.number().min(0.1).max(100).optional(),
  /** Answers. The first matching rule answers; without one, the status is 404. */
  rules: z.array(RULE).max(1000).optional(),
  /** Undefined: no delays. */
  delays: z
    .strictObject({
      recognition: TIMES.optional(),
      first_token: TIMES.optional(),
      token: TIMES.optional(),
      /** Time until the first sound of a text. */
      speech: TIMES.optional(),
    })
    .optional(),
  /** Speed at which speech is sent, as a multiple of real time. Undefined: all at once. */
  speech_pace: z.number().min(0.1).max(1000).optional(),
  faults: z.array(FAULT).max(1000).optional(),
});

/** A script, as docs/assistants.md explains it. */
export type ModelScript = z.input<typeof SCRIPT>;
export type ModelRule = z.output<typeof RULE>;
export type ModelFault = z.output<typeof FAULT>;

export const APPOINTMENTS_SCRIPT: ModelScript = {
  rules: [
    { when: '/bye/i', use: 'end_call', input: {} },
    {
      when: '/person|somebody/i',
      use: 'transfer',
      input: { reason: 'the caller asked', summary: 'The caller wants to talk to a person.' },
    },
    { when: '/nine/i', use: 'book_slot', input: { slot: 'tuesday at nine' } },
    { when: '/eleven/i', use: 'book_slot', input: { slot: 'tuesday at eleven' } },
    { when: '/tuesday/i', use: 'find_slots', input: { day: 'tuesday' } },
    { when: '/friday/i', use: 'find_slots', input: { day: 'friday' } },
    { after: 'find_slots', when: '/nine/i', say: 'On Tuesday I have nine and eleven. Which one would you like?' },
    { after: 'find_slots', when: '/three/i', say: 'On Friday I have three in the afternoon. Shall I book it?' },
    { after: 'find_slots', say: 'That day is full. Shall I look at another one?' },
    { after: 'book_slot', when: '/^"?booked/i', say: 'It is booked. Is there anything else?' },
    { after: 'book_slot', say: 'Sorry, that one has just gone. Shall I look at another day?' },
    { say: 'I can look at Tuesday or Friday. Which day suits you?' },
  ],
  delays: { recognition: [150, 250], first_token: [350, 600], token: [25, 40] },
};

/** Checks a script. @throws RangeError that says what is wrong, and where. */
export function checkModelScript(script: unknown): ModelScript {
  const parsed = SCRIPT.safeParse(script);
  if (parsed.success) return parsed.data;
  throw new RangeError(
    parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'the script'}: ${message}`).join('; '),
  );
}

/** Reads a script from a file's text, YAML or JSON. @throws RangeError as {@link checkModelScript} does. */
export function readModelScript(text: string): ModelScript {
  let data: unknown;
  try {
    data = parse(text, { maxAliasCount: 100, logLevel: 'error' });
  } catch (cause) {
    throw new RangeError(`this is no YAML or JSON: ${cause instanceof Error ? cause.message : 'it cannot be read'}`, { cause });
  }
  return checkModelScript(data);
}
