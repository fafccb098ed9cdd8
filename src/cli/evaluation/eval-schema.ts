// The file format of evaluations by voice: fields, and rules between them. The only source of the parser and the types.
import { z } from 'zod';
import { checkModelScript } from '../../fake-platform/models/script.ts';
import { checkPattern, COUNT, PATTERN, fields, milliseconds, oneOf, words } from '../../fake-platform/scenario/expectation-fields.ts';
import { FLITE_VOICES } from '../../voice/synthesizers/flite.ts';

const number = (least: number, most: number) => {
  const error = { error: `give a number from ${String(least)} to ${String(most)}` };
  return z.number(error).min(least, error).max(most, error);
};
const whole = (most: number) => {
  const error = { error: `give a whole number from 1 to ${String(most)}` };
  return z.int(error).min(1, error).max(most, error);
};
const list = <T extends z.ZodType>(item: T, what: string) =>
  z
    .array(item, { error: `write a list of ${what}` })
    .min(1, { error: `write a list of ${what}` })
    .max(100);

const MODEL = fields('a model', {
  url: words('Address of a service that speaks chat completions, with its version.').optional(),
  model: words('Its name there.', 200).optional(),
  key_env: words('The variable of the environment that holds the key. Default: no key.', 200).optional(),
  module: words('A module whose default export is a model of an AI SDK provider; its path starts at the folder of this file.').optional(),
  price: fields('a price', { in: number(0, 1e6), out: number(0, 1e6) }).optional(),
}).refine(({ url, model, module }) => (module === undefined ? url !== undefined && model !== undefined : (url ?? model) === undefined), {
  error: 'a model needs url and model, or module alone',
});

const PERSONA = fields('a persona', {
  brief: words('How this caller talks and what they are like, in a sentence or two.').optional(),
  from: words('A recorded call (.parley-call), whose caller this is; its path starts at the folder of this file.').optional(),
  model: words('Plays the caller: a name in models.'),
  voice: oneOf('Speaks for the caller. Default rms.', ...FLITE_VOICES).optional(),
  interrupts: number(0, 1).optional(),
  noise: words('A WAV file that is heard behind the caller all the time; its path starts at the folder of this file.').optional(),
}).refine(({ brief, from }) => (brief ?? from) !== undefined, { error: 'a persona needs a brief, or a recorded call in from' });

const TOOL_USES = z.union(
  [
    COUNT,
    fields('the uses of a tool', {
      times: COUNT.optional(),
      with: z.record(z.string(), z.json().superRefine(checkPattern), { error: 'write name: value' }).optional(),
    }),
  ],
  { error: 'give a whole number, or times and with' },
);
const TOOL = z.union([words('Used at least once.', 200), z.record(z.string(), TOOL_USES)], {
  error: 'write the name of a tool, or name: how often',
});

const SETTINGS = {
  agent: words('Agent to talk to. Default: the server decides.', 500).optional(),
  runs: whole(10_000).optional(),
  jobs: whole(200).optional(),
  pass_rate: number(0, 1).optional(),
  max_turns: whole(200).optional(),
  latency_p95_below_ms: milliseconds(
    'In each run 95 of 100 replies begin sooner than this after the end of what the caller did.',
    1,
  ).optional(),
  gap_below_ms: milliseconds('No silence between two sounds of one reply is as long as this.', 1).optional(),
  expect: fields('an expectation', {
    ends: oneOf('How the call ends.', 'ended', 'transferred', 'hung_up').optional(),
    tools: list(TOOL, 'tools').optional(),
    tools_not: list(words('Never used.', 200), 'tools').optional(),
    heard: list(PATTERN, 'texts').optional(),
    not_heard: list(PATTERN, 'texts').optional(),
  }).optional(),
  judge: fields('a judge', {
    model: words('A name in models.'),
    veto: list(words('What must not be true of a run.'), 'sentences'),
    votes: z.literal([1, 3, 5], { error: 'write 1, 3 or 5' }).optional(),
  }).optional(),
};

/** A whole file. */
export const EVAL_FILE = fields('a file of evaluations', {
  models: z.record(z.string(), MODEL, { error: 'write name: a model' }),
  personas: z.record(z.string(), PERSONA, { error: 'write name: a persona' }),
  defaults: fields('defaults', SETTINGS).optional(),
  tests: list(
    fields('a test', {
      name: words('One name stands once in a file.', 200),
      persona: words('A name in personas.'),
      goal: words('What the caller wants.'),
      ...SETTINGS,
    }),
    'tests',
  ),
  fake_models: z
    .unknown()
    .superRefine((script, context) => {
      try {
        checkModelScript(script ?? {});
      } catch (thrown) {
        context.addIssue({ code: 'custom', message: thrown instanceof Error ? thrown.message : 'this is no script of fake models' });
      }
    })
    .optional(),
}).superRefine(({ models, personas, defaults, tests }, context) => {
  const known = (what: string, names: object, name: string | undefined, path: PropertyKey[]): void => {
    if (name === undefined || Object.hasOwn(names, name)) return;
    context.addIssue({
      code: 'custom',
      message: `there is no ${what} "${name}"; there are ${Object.keys(names).join(', ') || 'none'}`,
      path,
    });
  };
  for (const [name, { model }] of Object.entries(personas)) known('model', models, model, ['personas', name, 'model']);
  known('model', models, defaults?.judge?.model, ['defaults', 'judge', 'model']);
  for (const [index, { name, persona, judge }] of tests.entries()) {
    known('persona', personas, persona, ['tests', index, 'persona']);
    known('model', models, judge?.model, ['tests', index, 'judge', 'model']);
    if (tests.findIndex((other) => other.name === name) < index)
      context.addIssue({ code: 'custom', message: 'another test of this file has the same name', path: ['tests', index, 'name'] });
  }
});

/** A parsed file. */
export type EvalFile = z.infer<typeof EVAL_FILE>;
export type EvalSettings = NonNullable<EvalFile['defaults']>;
