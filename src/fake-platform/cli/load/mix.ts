// What the callers of a load do: scenarios and their weights, as `--mix` names them. Prepares their steps once, for all
// workers.
import type { LoadScenario } from '../../load/load-call.ts';
import type { Step } from '../../caller/script.ts';
import { prepareScript, type ScriptTools } from '../../caller/script-draft.ts';
import type { PlannedTest } from '../../scenario/plan.ts';
import type { ReadyTest } from '../../scenario/run.ts';
import { findTests, readyTests } from '../scenarios/scenario-files.ts';

export interface MixEntry {
  readonly scenario: LoadScenario;
  /** How often the scenario runs, in proportion to the weights of the others. */
  readonly weight: number;
  /** Whether the scenario expects a transfer; undefined when it says nothing about the end of the call. */
  readonly expectsTransfer?: boolean;
}

/** One part of a mix before its texts are spoken: a scenario by name, or the tests of a file. */
export interface MixDraft {
  readonly weight: number;
  readonly source:
    | { readonly kind: 'built_in'; readonly name: string }
    | { readonly kind: 'tests'; readonly tests: readonly PlannedTest[] };
}

/** Used where the scenario of a caller has no value of its own. */
export type LoadDefaults = Pick<LoadScenario, 'organizationId' | 'agentId' | 'noInputMs' | 'repeatsLostTurns'>;

/** Spoken where the mix gives no other text. */
const SENTENCES = ['hello, I have a question about my order', 'what are your opening hours'] as const;

type Prepare = (tools: ScriptTools) => Promise<readonly Step[]>;

/** Scenarios that need no file. */
const BUILT_IN: ReadonlyMap<string, Prepare> = new Map<string, Prepare>([
  ['listen', () => Promise.resolve([])],
  ['keys', () => Promise.resolve([{ kind: 'press', keys: ['1'] }])],
  [
    'speak',
    (tools) =>
      prepareScript(
        SENTENCES.map((text) => ({ kind: 'say', text })),
        tools,
      ),
  ],
]);

export const DEFAULT_MIX = 'speak:3,keys:1,listen:1';

export const MIX_HELP = `Scenarios of a mix: listen (hears the welcome and hangs up), keys (presses 1), speak (asks two questions), and
files of scenarios (docs/scenarios.md), whose tests share the file's weight. What they expect is left to \`parley test\`.`;

const FILE = /\.(?:ya?ml|json)$/u;

/** Reads `speak:3,bots/scenarios/echo.yaml:1`; the default weight is 1. @throws RangeError with a sentence for the user. */
export async function readMix(text: string): Promise<readonly MixDraft[]> {
  const drafts: MixDraft[] = [];
  for (const part of text.split(',')) {
    const { name = '', weight = '1' } = /^\s*(?<name>.+?)(?::(?<weight>\d+(?:\.\d+)?))?\s*$/u.exec(part)?.groups ?? {};
    if (!(Number(weight) > 0)) throw new RangeError(`"${part.trim()}": a weight is a number above 0`);
    if (FILE.test(name)) drafts.push({ weight: Number(weight), source: { kind: 'tests', tests: await testsIn(name) } });
    else if (BUILT_IN.has(name)) drafts.push({ weight: Number(weight), source: { kind: 'built_in', name } });
    else
      throw new RangeError(
        `there is no scenario "${name}"; there are ${[...BUILT_IN.keys()].join(', ')} and files that end in .yaml or .json`,
      );
  }
  return drafts;
}

async function testsIn(file: string): Promise<readonly PlannedTest[]> {
  const { tests, problems } = await findTests([file]);
  if (problems.length > 0) throw new RangeError(problems.join('\n'));
  const bad = tests.find(({ settings }) => Object.values(settings.conditions ?? {}).some((value) => value !== undefined));
  // The callers of a load share connections, so no single call can have a connection that breaks.
  if (bad !== undefined) throw new RangeError(`${file}: "${bad.name}" asks for a bad line, which calls of a load cannot have`);
  return tests;
}

/**
 * Speaks the texts of the mix.
 *
 * @throws AppError `synthesis_failed` when a scenario speaks and no voice is installed; errors of reading a recording.
 */
export async function prepareMix(drafts: readonly MixDraft[], defaults: LoadDefaults, tools: ScriptTools): Promise<readonly MixEntry[]> {
  const entries: MixEntry[] = [];
  for (const { weight, source } of drafts) {
    if (source.kind === 'built_in') {
      const script = (await BUILT_IN.get(source.name)?.(tools)) ?? [];
      entries.push({ weight, scenario: { ...defaults, name: source.name, script } });
    } else {
      for (const test of await readyTests(source.tests, tools))
        entries.push({ weight: weight / source.tests.length, scenario: scenarioOf(test, defaults), ...expectedEndOf(test) });
    }
  }
  return entries;
}

function expectedEndOf({ welcome, steps, call }: ReadyTest): Pick<MixEntry, 'expectsTransfer'> {
  const expected = [...welcome, ...steps.flatMap(({ expectations }) => expectations), ...call].find(({ kind }) => kind === 'outcome');
  return expected?.kind === 'outcome' ? { expectsTransfer: expected.outcome === 'transferred' } : {};
}

/** Leaves out flow events, pace and line conditions, which a load does not support. */
function scenarioOf({ name, script, settings }: ReadyTest, defaults: LoadDefaults): LoadScenario {
  const { flowEvents: _flowEvents, pace: _pace, conditions: _conditions, ...kept } = settings;
  return { ...defaults, ...kept, name, script };
}
