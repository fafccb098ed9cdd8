// Reads evaluation files: opens their models, and converts their tests.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chatModel } from '../../ai/chat-model.ts';
import { demandModel, type LanguageModel } from '../../ai/model.ts';
import { environmentValue } from '../../app/config/sources.ts';
import { enableTypeScript } from '../../bot/typescript.ts';
import { textPattern } from '../../fake-platform/caller/expectation.ts';
import { fieldName, readTests, type PlaceOf, type ReadFile } from '../../fake-platform/scenario/read.ts';
import { openedRecording, type Complain } from '../opened-recording.ts';
import { recordingKeys } from '../replay/recording-keys.ts';
import { readBounded } from '../../base/terminal/surroundings.ts';
import { callerOf } from '../../recording/scenario/caller-of.ts';
import { EVAL_FILE, type EvalFile, type EvalSettings } from './eval-schema.ts';
import type { Persona } from './persona.ts';
import type { Judge, RunExpectations } from './verdict.ts';

/** Price of a million tokens, of input and of output. */
export interface Price {
  readonly in: number;
  readonly out: number;
}

/** One test of a file. */
export interface Eval {
  readonly name: string;
  /** The file as the user named it, and the line where the test begins. */
  readonly file: string;
  readonly line: number;
  readonly agent: string | undefined;
  readonly persona: Persona;
  /** Undefined: the default voice of callers. */
  readonly voice: string | undefined;
  /** Path of a WAV file. */
  readonly noise: string | undefined;
  readonly expect: RunExpectations;
  readonly judge: Judge | undefined;
  /** Undefined: the default of evaluations; likewise for `jobs` and `maxTurns`. */
  readonly runs: number | undefined;
  readonly jobs: number | undefined;
  readonly maxTurns: number | undefined;
  readonly passRate: number;
}

export interface FileModels {
  readonly models: ReadonlyMap<string, LanguageModel>;
  readonly prices: ReadonlyMap<LanguageModel, Price>;
}

const PASS_RATE = 0.9;

export function readEvals(text: string): ReadFile<EvalFile> {
  return readTests(text, EVAL_FILE);
}

/**
 * Opens the models of a file.
 * @param fakeUrl - replaces the address of every model.
 * @throws RangeError with a sentence for the user when a model cannot be opened.
 */
export async function openModels({ models: given }: EvalFile, name: string, fakeUrl: string | undefined): Promise<FileModels> {
  const models = new Map<string, LanguageModel>();
  const prices = new Map<LanguageModel, Price>();
  for (const [id, { url = '', model = id, key_env: keyEnv, module, price }] of Object.entries(given)) {
    const key = keyEnv === undefined || fakeUrl !== undefined ? undefined : environmentValue(keyEnv);
    const refuse = (why: string): RangeError => new RangeError(`${name}  models.${id}: ${why}`);
    if (keyEnv !== undefined && fakeUrl === undefined && key === undefined) throw refuse(`set the variable ${keyEnv}, which holds its key`);
    try {
      const opened =
        fakeUrl === undefined && module !== undefined
          ? await exportedModel(path.resolve(path.dirname(name), module))
          : chatModel({ url: fakeUrl ?? url, model, ...(key !== undefined && { key }) });
      models.set(id, opened);
      if (price !== undefined) prices.set(opened, price);
    } catch (thrown) {
      throw refuse(thrown instanceof Error ? thrown.message : 'it cannot be loaded');
    }
  }
  return { models, prices };
}

async function exportedModel(file: string): Promise<LanguageModel> {
  await enableTypeScript(path.dirname(file));
  const module: unknown = await import(pathToFileURL(file).href);
  const model: unknown = Reflect.get(Object(module), 'default');
  demandModel(model);
  return model;
}

/**
 * What the callers of recorded calls said and did, by the names of their personas.
 * @param argv - flags of settings, for the keys of the recordings.
 * @throws RangeError when a recording cannot be read; AppError `recording_unreadable`.
 */
export async function recordedCallers(
  { personas }: EvalFile,
  name: string,
  argv: readonly string[],
  complain: Complain,
): Promise<ReadonlyMap<string, string>> {
  const callers = new Map<string, string>();
  for (const [id, { from }] of Object.entries(personas)) {
    if (from === undefined) continue;
    const file = path.resolve(path.dirname(name), from);
    callers.set(id, callerOf(openedRecording(await readBounded(file), recordingKeys(argv), 'evaluation', complain)));
  }
  return callers;
}

/** All tests of a file, in order. @param models - by name, all that the file needs. @param callers - see {@link recordedCallers}. */
export function evalsOf(
  file: EvalFile,
  name: string,
  placeOf: PlaceOf,
  models: FileModels['models'],
  callers: ReadonlyMap<string, string> = new Map(),
): readonly Eval[] {
  const modelNamed = (id: string): LanguageModel => {
    const model = models.get(id);
    if (model === undefined) throw new RangeError(`${name}: there is no model "${id}"`);
    return model;
  };
  return file.tests.map((test, index) => {
    const settings: EvalSettings = { ...file.defaults, ...test, expect: { ...file.defaults?.expect, ...test.expect } };
    const { agent, judge, runs, jobs, max_turns: maxTurns, pass_rate: passRate = PASS_RATE } = settings;
    const persona = file.personas[test.persona];
    if (persona === undefined) throw new RangeError(`${name}: there is no persona "${test.persona}"`);
    const { model, voice, noise, interrupts = 0 } = persona;
    const brief = [persona.brief, callers.get(test.persona)].filter((part) => part !== undefined).join(' ');
    return {
      ...{ name: test.name, file: name, line: placeOf(['tests', index]).line, agent, runs, jobs, maxTurns, passRate, voice },
      noise: noise === undefined ? undefined : path.resolve(path.dirname(name), noise),
      persona: { model: modelNamed(model), brief, goal: test.goal, interrupts },
      judge: judge === undefined ? undefined : { model: modelNamed(judge.model), veto: judge.veto, votes: judge.votes ?? 1 },
      expect: expectationsOf(settings),
    };
  });
}

function expectationsOf({ expect = {}, latency_p95_below_ms: latencyMs, gap_below_ms: gapMs }: EvalSettings): RunExpectations {
  const { ends, tools = [], tools_not: toolsNot, heard, not_heard: notHeard } = expect;
  return {
    ...(ends !== undefined && { ends }),
    tools: Object.fromEntries(tools.flatMap((tool) => (typeof tool === 'string' ? [[tool, {}]] : Object.entries(tool)))),
    ...(toolsNot !== undefined && { toolsNot }),
    ...(heard !== undefined && { says: heard.map(textPattern) }),
    ...(notHeard !== undefined && { saysNot: notHeard.map(textPattern) }),
    ...(latencyMs !== undefined && { answerP95BelowMs: latencyMs }),
    ...(gapMs !== undefined && { gapBelowMs: gapMs }),
  };
}

/** Problems of tests with expectations about tools: the tools of a server in another process cannot be observed. */
export function toolProblems(file: EvalFile, name: string, placeOf: PlaceOf): readonly string[] {
  return [['defaults'], ...file.tests.map((_, index) => ['tests', index])].flatMap((at) => {
    const { expect = {} } = (at[0] === 'defaults' ? file.defaults : file.tests[Number(at[1])]) ?? {};
    return (['tools', 'tools_not'] as const).flatMap((field) => {
      if (expect[field] === undefined) return [];
      const { line, column } = placeOf([...at, 'expect', field]);
      const where = `${name}:${String(line)}:${String(column)}  ${fieldName([...at, 'expect', field])}`;
      return [`${where}: the server behind --target does not show its tools; leave --target out, or this`];
    });
  });
}
