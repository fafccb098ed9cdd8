// The file format of scenarios: every field, with the description that an editor shows. The only source of the parser,
// of the types, and of docs/scenario.schema.json.
import { z } from 'zod';
import { MAX_DELAY_MS, MAX_PAUSE_MS, MIN_READ_RATE, type LineConditions } from '../lines/conditions/line-conditions.ts';
import { unsendable } from '../caller/script-draft.ts';
import { CALL_EXPECTATIONS, STEP_EXPECTATIONS, WELCOME_EXPECTATIONS, fields, milliseconds, words } from './expectation-fields.ts';

const YES = { error: 'write true, or leave it out' };
const DATA = z.record(z.string(), z.json(), { error: 'write name: value' }).superRefine((data, context) => {
  const problem = unsendable(data);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** What a step does; each step has exactly one of these. */
const ACTIONS = ['say', 'wav', 'press', 'wait_ms', 'stay_silent', 'send_event', 'hang_up'] as const;

const EXACTLY_ONE = `a step does exactly one of ${ACTIONS.join(', ')}`;

const STEP = fields('a step', {
  say: words('The caller speaks this text.').optional(),
  wav: words('The caller plays this recording; its path starts at the folder of this file.').optional(),
  press: words('The caller presses these keys: 0 to 9, *, # and A to D. In quotes, such as "1234#".', 64)
    .regex(/^[0-9*#A-Da-d]+$/, { error: 'keys are 0 to 9, *, # and A to D' })
    .optional(),
  wait_ms: milliseconds('The caller says nothing for so long, whatever the server does meanwhile.').optional(),
  stay_silent: z.literal(true, YES).describe('The caller says nothing until the server has said something about it.').optional(),
  send_event: fields('an event', {
    name: words('Name of the event.', 200),
    parameters: DATA.describe('What it carries.').optional(),
  })
    .describe('The flow sends a custom event.')
    .optional(),
  hang_up: z.literal(true, YES).describe('The caller hangs up. Nothing can follow it.').optional(),
  interrupt_after_ms: milliseconds('Begin this step so long into the prompts that play after the step before it.').optional(),
  interrupt_at: words(
    'Begin this step about when the prompts come to these words. The moment is guessed from the text and the length of the prompts.',
  ).optional(),
  expect: STEP_EXPECTATIONS.describe('What the reply to this step must be.').optional(),
})
  .refine((step) => ACTIONS.filter((action) => step[action] !== undefined).length === 1, { error: EXACTLY_ONE })
  .refine((step) => step.interrupt_after_ms === undefined || step.interrupt_at === undefined, {
    error: 'give interrupt_after_ms or interrupt_at, not both',
    path: ['interrupt_at'],
  })
  .refine((step) => step.stay_silent === undefined || (step.interrupt_after_ms ?? step.interrupt_at) === undefined, {
    error: 'silence interrupts nothing',
    path: ['stay_silent'],
  })
  .meta({
    oneOf: ACTIONS.map((action) => ({ required: [action] })),
    // For the JSON Schema: the pairs of fields that exclude each other.
    allOf: [
      ['interrupt_after_ms', 'interrupt_at'],
      ['interrupt_after_ms', 'stay_silent'],
      ['interrupt_at', 'stay_silent'],
    ].map((pair) => ({ not: { required: pair } })),
  });

const STEPS = z
  .array(STEP, { error: 'write a list of steps' })
  .max(500)
  .superRefine((steps, context) => {
    const after = steps.findIndex((step) => step.hang_up === true) + 1;
    if (after > 0 && after < steps.length) context.addIssue({ code: 'custom', message: 'nothing can follow hang_up', path: [after] });
  })
  .describe(
    'What the caller does, in order. Each step begins when it is the caller’s turn, unless it interrupts. After the last reply the caller hangs up. Without steps the caller hears the welcome and hangs up.',
  );

const LINE = fields('a line', {
  seed: z.number().int().describe('Decides all that is random; the same seed gives the same line. Default 1.').optional(),
  jitter_ms: milliseconds('Whatever the platform sends is late by a random time up to this.', 0, MAX_DELAY_MS).optional(),
  burst_ms: milliseconds('Whatever the platform sends is held back and sent at once, every so many ms.', 0, MAX_DELAY_MS).optional(),
  lose_after_ms: milliseconds('The connection breaks at this time of the call.').optional(),
  slow_reader: fields('a slow reader', {
    pause_ms: milliseconds('Reading stops for so long after the first CHUNK of each reply.', 0, MAX_PAUSE_MS).optional(),
    bytes_per_second: z
      .number({ error: 'give a number' })
      .min(MIN_READ_RATE, { error: `give at least ${String(MIN_READ_RATE)} bytes per second` })
      .describe('CHUNKs are read at most at this rate; 8000 is the rate at which they play.')
      .optional(),
  })
    .describe('The platform reads answers slowly. A reply that is one WAV is read whole.')
    .optional(),
});

/** Settings of a call; `defaults` and each test have the same fields. */
const SETTINGS = {
  agent: words('Agent to talk to. Default: the server decides.', 500).optional(),
  organization: words('Organization of the call, in place of the one of the command line.', 500).optional(),
  session: fields('a session', {
    name: words('Name of the start event.', 200).optional(),
    parameters: DATA.describe('What the flow has set before the call reaches the agent.').optional(),
  })
    .describe('What the flow sends with the start of the session.')
    .optional(),
  vendor_config: words('Opaque text of the administrator’s agent configuration.', 100_000).optional(),
  allow_partial: z
    .boolean({ error: 'write true or false' })
    .describe('Accept PARTIAL answers, of which a later one cancels what still plays. Default false.')
    .optional(),
  habits: fields('habits', {
    send_terminator: z.boolean().describe('Hand the terminator over with the keys. Default false.').optional(),
    direct_digit: z.boolean().describe('Answer a menu of one digit without reporting the first key before. Default false.').optional(),
  })
    .describe('What the platform does where the contract leaves it open.')
    .optional(),
  repeat_lost_turns: z
    .boolean({ error: 'write true or false' })
    .describe('Say a turn again on another RPC when its own is lost; on gRPC alone. Default: as `--repeat-lost-turns`.')
    .optional(),
  line: LINE.describe('How the line between platform and server behaves. Default: good.').optional(),
  flow_events: z
    .array(
      fields('an event', {
        at_ms: milliseconds('Time of the call.'),
        name: words('Name of the event.', 200),
        parameters: DATA.describe('What it carries.').optional(),
      }),
      { error: 'write a list of events' },
    )
    .max(100)
    .describe('Custom events that the flow sends at their times, whatever happens then.')
    .optional(),
  limits: fields('limits', {
    call_ms: milliseconds('Longest call. Default 120000.', 1).optional(),
    connect_ms: milliseconds('Longest time until the connection stands. Default 5000.', 1).optional(),
    answer_ms: milliseconds('Longest wait for a sign of a reply. Default 10000.', 1).optional(),
    silence_ms: milliseconds(
      'Silence after which the platform reports it where the server cannot say when, as on a WebSocket; 0 never. Default: that of `--silence-after`, 5000.',
    ).optional(),
  })
    .describe('How long anything may take: a call that does not end by itself, and silence.')
    .optional(),
  pace: z
    .number({ error: 'give a number from 1 to 50' })
    .min(1, { error: 'give a number from 1 to 50' })
    .max(50, { error: 'give a number from 1 to 50' })
    .describe('The call goes so many times as fast as life, whatever `--pace` says.')
    .optional(),
  hang_up_at_ms: milliseconds('The caller hangs up at this time of the call, whatever happens then.').optional(),
  expect: CALL_EXPECTATIONS.describe('What must be true of the whole call.').optional(),
};

export const SETTING_NAMES = z.object(SETTINGS).keyof();
export const EXPECTATION_NAMES = CALL_EXPECTATIONS.keyof();

const TEST = fields('a test', {
  name: words('Name of the test; one name stands once in a file.', 200),
  ...SETTINGS,
  without_defaults: z
    .array(
      z.enum([...SETTING_NAMES.options, ...EXPECTATION_NAMES.options], { error: 'there is no such setting, nor such an expectation' }),
      { error: 'write a list of settings and expectations' },
    )
    .max(100)
    .describe('Settings of `defaults`, and fields of its `expect`, that do not hold for this test.')
    .optional(),
  welcome: WELCOME_EXPECTATIONS.describe('What must be heard before the first step.').optional(),
  steps: STEPS.optional(),
});

export const SCENARIO_FILE = fields('a file', {
  $schema: z.string().describe('Address of the schema, for editors; not read.').optional(),
  defaults: fields('defaults', SETTINGS)
    .describe('Settings of all tests of this file; a test’s own win. Of `expect`, each field by itself.')
    .optional(),
  tests: z
    .array(TEST, { error: 'write a list of tests' })
    .min(1, { error: 'a file holds at least one test' })
    .max(1000)
    .superRefine((tests, context) => {
      tests.forEach(({ name }, index) => {
        if (tests.findIndex((other) => other.name === name) < index)
          context.addIssue({ code: 'custom', message: 'another test of this file has the same name', path: [index, 'name'] });
      });
    })
    .describe('The tests.'),
});

export type ScenarioFile = z.infer<typeof SCENARIO_FILE>;
export type ScenarioTest = ScenarioFile['tests'][number];
export type ScenarioStep = NonNullable<ScenarioTest['steps']>[number];
export type ScenarioSettings = NonNullable<ScenarioFile['defaults']>;

/** The conditions of a line in the caller's form. */
export function lineConditions({ seed, jitter_ms, burst_ms, lose_after_ms, slow_reader }: z.infer<typeof LINE>): LineConditions {
  return {
    ...{ seed, jitterMs: jitter_ms, burstMs: burst_ms, loseAfterMs: lose_after_ms },
    slowReader: slow_reader && { pauseMs: slow_reader.pause_ms, bytesPerSecond: slow_reader.bytes_per_second },
  };
}

/** The published JSON Schema of a file, for editors. */
export function scenarioJsonSchema(): object {
  return {
    title: 'Parley scenarios',
    ...z.toJSONSchema(SCENARIO_FILE, { io: 'input' }),
  };
}
