// Plans a test of a scenario file, so that it can run: what the caller does, what each part of the call should cause,
// and the settings of the call. Speaks no text and reads no file.
import path from 'node:path';
import type { CallOptions } from '../caller/caller.ts';
import { type Expectation, textPattern } from '../caller/expectation.ts';
import { keysOf } from '../caller/key.ts';
import type { Draft } from '../caller/script-draft.ts';
import type { CallExpectations, StepExpectations } from './expectation-fields.ts';
import { fieldName, type PlaceOf } from './read.ts';
import {
  EXPECTATION_NAMES,
  SETTING_NAMES,
  lineConditions,
  type ScenarioFile,
  type ScenarioSettings,
  type ScenarioStep,
  type ScenarioTest,
} from './schema.ts';

/** An expectation whose recording has not been read yet; `place` is where the scenario file names the recording. */
export interface RecordingExpectation {
  readonly written: string;
  readonly kind: 'recording';
  readonly file: string;
  readonly place: string;
}

export interface TestExpectations<One> {
  readonly welcome: readonly One[];
  /** One for each step of the script; messages name the step by its `label`. */
  readonly steps: readonly { readonly label: string; readonly expectations: readonly One[] }[];
  readonly call: readonly One[];
}

/** Every test, with or without its sounds. */
export interface TestFrame {
  readonly name: string;
  /** The file as the user named it, and the line where the test begins. */
  readonly file: string;
  readonly line: number;
  readonly settings: Pick<
    CallOptions,
    | 'sessionStart'
    | 'allowPartial'
    | 'hangUpAtMs'
    | 'flowEvents'
    | 'conditions'
    | 'habits'
    | 'limits'
    | 'noInputMs'
    | 'repeatsLostTurns'
    | 'pace'
    | 'vendorConfig'
    | 'agentId'
  > & { readonly organizationId?: string };
}

/** A test that can run once the texts of its drafts are spoken and its recordings read. */
export interface PlannedTest extends TestFrame, TestExpectations<Expectation | RecordingExpectation> {
  readonly drafts: readonly Draft[];
}

/**
 * All tests of a file, in order.
 *
 * @param name - of the file; the paths of recordings are relative to its folder.
 * @param placeOf - finds the line and column of a field.
 */
export function planTests(file: ScenarioFile, name: string, placeOf: PlaceOf): readonly PlannedTest[] {
  const find: Find = (recording, part) => {
    const { line, column } = placeOf(part);
    return {
      file: path.isAbsolute(recording) ? recording : path.join(path.dirname(name), recording),
      place: `${name}:${String(line)}:${String(column)}  ${fieldName(part)}`,
    };
  };
  return file.tests.map((test, index) => ({
    name: test.name,
    file: name,
    line: placeOf(['tests', index]).line,
    ...plannedTest(test, file.defaults ?? {}, ['tests', index], find),
  }));
}

/** The keys and indexes that lead to a field of a scenario file. */
type Path = readonly (string | number)[];
/** Finds the file of a recording, and the place in the scenario file that names it. */
type Find = (recording: string, part: Path) => { readonly file: string; readonly place: string };

function plannedTest(test: ScenarioTest, defaults: ScenarioSettings, at: Path, find: Find): Omit<PlannedTest, 'name' | 'file' | 'line'> {
  const kept = keptDefaults(defaults, test.without_defaults ?? []);
  const settings: ScenarioSettings = { ...kept, ...test, expect: { ...kept.expect, ...test.expect } };
  const steps = test.steps ?? [];
  const callAt = test.expect?.hears === undefined ? ['defaults', 'expect'] : [...at, 'expect'];
  return {
    settings: callSettings(settings),
    drafts: steps.map((step, index) => plannedDraft(step, (file) => find(file, [...at, 'steps', index, 'wav']))),
    welcome: stepExpectations(test.welcome, [...at, 'welcome'], find),
    steps: steps.map((step, index) => ({
      label: stepLabel(step),
      expectations: [...interruption(step), ...input(step), ...stepExpectations(step.expect, [...at, 'steps', index, 'expect'], find)],
    })),
    call: callExpectations(settings.expect ?? {}, callAt, find),
  };
}

/** The defaults that apply to a test: all except those that `left` names. */
function keptDefaults(defaults: ScenarioSettings, left: NonNullable<ScenarioTest['without_defaults']>): ScenarioSettings {
  const kept: ScenarioSettings = { ...defaults };
  const expect: CallExpectations = { ...defaults.expect };
  for (const name of left) {
    const setting = SETTING_NAMES.safeParse(name);
    const expectation = EXPECTATION_NAMES.safeParse(name);
    if (setting.success) kept[setting.data] = undefined;
    if (expectation.success) expect[expectation.data] = undefined;
  }
  return left.includes('expect') ? kept : { ...kept, expect };
}

function callSettings(settings: ScenarioSettings): PlannedTest['settings'] {
  const { agent, organization, session, vendor_config, allow_partial, habits, line, flow_events, limits, pace, hang_up_at_ms } = settings;
  const { repeat_lost_turns } = settings;
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(organization === undefined ? {} : { organizationId: organization }),
    ...(session === undefined ? {} : { sessionStart: { name: session.name ?? '', parameters: session.parameters ?? {} } }),
    ...(vendor_config === undefined ? {} : { vendorConfig: vendor_config }),
    ...(allow_partial === undefined ? {} : { allowPartial: allow_partial }),
    habits: { terminatorIncluded: habits?.send_terminator ?? false, singleDigitDirect: habits?.direct_digit ?? false },
    ...(line === undefined ? {} : { conditions: lineConditions(line) }),
    ...(flow_events === undefined
      ? {}
      : { flowEvents: flow_events.map(({ at_ms, name, parameters = {} }) => ({ atMs: at_ms, name, parameters })) }),
    limits: {
      ...(limits?.call_ms === undefined ? {} : { callMs: limits.call_ms }),
      ...(limits?.connect_ms === undefined ? {} : { connectMs: limits.connect_ms }),
      ...(limits?.answer_ms === undefined ? {} : { answerMs: limits.answer_ms }),
    },
    ...(limits?.silence_ms === undefined ? {} : { noInputMs: limits.silence_ms }),
    ...(repeat_lost_turns === undefined ? {} : { repeatsLostTurns: repeat_lost_turns }),
    ...(pace === undefined ? {} : { pace }),
    ...(hang_up_at_ms === undefined ? {} : { hangUpAtMs: hang_up_at_ms }),
  };
}

type FindWav = (recording: string) => ReturnType<Find>;

function plannedDraft(step: ScenarioStep, find: FindWav): Draft {
  return {
    ...plannedAction(step, find),
    ...(step.interrupt_after_ms === undefined ? {} : { interruptMs: step.interrupt_after_ms }),
    ...(step.interrupt_at === undefined ? {} : { interruptWord: step.interrupt_at }),
  };
}

function plannedAction({ say, wav, press, wait_ms, send_event, hang_up }: ScenarioStep, find: FindWav): Draft {
  if (say !== undefined) return { kind: 'say', text: say };
  if (wav !== undefined) return { kind: 'wav', ...find(wav) };
  if (press !== undefined) return { kind: 'press', keys: keysOf(press) ?? [] };
  if (wait_ms !== undefined) return { kind: 'wait', waitMs: wait_ms };
  if (send_event !== undefined) return { kind: 'send_event', name: send_event.name, parameters: send_event.parameters ?? {} };
  return hang_up === true ? { kind: 'hang_up' } : { kind: 'stay_silent' };
}

function stepLabel({ say, wav, press, wait_ms, send_event, hang_up }: ScenarioStep): string {
  if (say !== undefined) return `say "${say}"`;
  if (wav !== undefined) return `wav ${wav}`;
  if (press !== undefined) return `press ${press}`;
  if (wait_ms !== undefined) return `wait ${String(wait_ms)} ms`;
  if (send_event !== undefined) return `send_event ${send_event.name}`;
  return hang_up === true ? 'hang_up' : 'stay_silent';
}

function interruption({ interrupt_after_ms, interrupt_at }: ScenarioStep): readonly Expectation[] {
  if (interrupt_after_ms !== undefined) return [{ kind: 'interruption', written: `interrupt_after_ms ${String(interrupt_after_ms)}` }];
  return interrupt_at === undefined ? [] : [{ kind: 'interruption', written: `interrupt_at "${interrupt_at}"` }];
}

/** Expects that the platform takes what the caller says or presses, unless the test expects otherwise. */
function input({ say, wav, press, expect }: ScenarioStep): readonly Expectation[] {
  if ((say ?? wav ?? press) === undefined) return [];
  const isTaken = expect?.dropped !== true;
  return [{ kind: 'input', written: isTaken ? 'the platform takes the input' : 'dropped', isTaken }];
}

function callExpectations(expected: CallExpectations, at: Path, find: Find): PlannedTest['call'] {
  const { allowed_findings: allowed = [] } = expected;
  return [...stepExpectations(expected, at, find), { kind: 'no_findings', written: 'no breach of the contract', allowed }];
}

function stepExpectations(expected: StepExpectations = {}, at: Path, find: Find): PlannedTest['welcome'] {
  const { heard, hears, not_heard, prompts, latency_below_ms, gap_below_ms, not_clipped, ends, with_data, event_name, sends_event } =
    expected;
  const expectations: PlannedTest['welcome'][number][] = [];
  for (const text of listed(heard)) expectations.push({ kind: 'text', written: `heard ${quoted(text)}`, pattern: textPattern(text) });
  for (const text of listed(not_heard))
    expectations.push({ kind: 'no_text', written: `not_heard ${quoted(text)}`, pattern: textPattern(text) });
  for (const [index, file] of listed(hears).entries()) {
    const part = typeof hears === 'string' ? [...at, 'hears'] : [...at, 'hears', index];
    expectations.push({ kind: 'recording', written: `hears ${file}`, ...find(file, part) });
  }
  if (prompts !== undefined) {
    const { at_least: least = 0, at_most: most = Infinity } =
      typeof prompts === 'number' ? { at_least: prompts, at_most: prompts } : prompts;
    const written = least === most ? String(least) : `at least ${String(least)}${most === Infinity ? '' : `, at most ${String(most)}`}`;
    expectations.push({ kind: 'prompts', written: `prompts ${written}`, least, most });
  }
  if (latency_below_ms !== undefined)
    expectations.push({ kind: 'latency', written: `latency_below_ms ${String(latency_below_ms)}`, belowMs: latency_below_ms });
  if (gap_below_ms !== undefined)
    expectations.push({ kind: 'gap', written: `gap_below_ms ${String(gap_below_ms)}`, belowMs: gap_below_ms });
  if (not_clipped === true) expectations.push({ kind: 'no_clipping', written: 'not_clipped' });
  if (ends !== undefined) expectations.push({ kind: 'outcome', written: `ends ${ends}`, outcome: ends });
  for (const [name, value] of Object.entries(with_data ?? {}))
    expectations.push({ kind: 'data', written: `with_data ${name}: ${JSON.stringify(value)}`, name, value });
  if (event_name !== undefined)
    expectations.push({ kind: 'ending_name', written: `event_name ${quoted(event_name)}`, pattern: textPattern(event_name) });
  for (const name of listed(sends_event))
    expectations.push({ kind: 'custom_event', written: `sends_event ${quoted(name)}`, pattern: textPattern(name) });
  return expectations;
}

function listed(texts: string | readonly string[] = []): readonly string[] {
  return typeof texts === 'string' ? [texts] : texts;
}

function quoted(text: string): string {
  return text.startsWith('/') ? text : `"${text}"`;
}
