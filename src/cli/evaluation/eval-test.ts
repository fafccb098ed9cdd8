// Runs one test of an evaluation file by voice: places its calls, keeps recordings, and counts tokens.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { isFileError, readBounded } from '../../base/terminal/surroundings.ts';
import type { LanguageModel } from '../../ai/model.ts';
import { placeCall } from '../../fake-platform/caller/caller.ts';
import { recordingReader, callRecording } from '../../fake-platform/caller/recorded-sound.ts';
import type { Access, CallerVoice } from '../../fake-platform/cli/call-access.ts';
import { announceWords } from '../../fake-platform/models/announce.ts';
import { slug } from '../../fake-platform/cli/scenarios/recordings.ts';
import { decodeMulaw } from '../../speech/g711.ts';
import type { Eval, FileModels } from './eval-file.ts';
import { evalResult, type EvalResult, type Strictness, type Usage } from './eval-report.ts';
import type { SwitchedModels } from './eval-server.ts';
import { evaluateRuns, RUNS } from './evaluate.ts';
import { voiceCall, type VoiceLine } from './voice-call.ts';
import type { WatchedBots } from './watched-bots.ts';

/** What all tests of one command share. */
export interface EvalSetup {
  readonly access: Access;
  /** Undefined: the server runs in another process. */
  readonly bots: WatchedBots | undefined;
  readonly fakes: SwitchedModels | undefined;
  readonly voice: CallerVoice;
  readonly pace: number;
  /** The folder for recordings of runs that have not passed. Undefined: no recordings are kept. */
  readonly record: string | undefined;
  readonly clock: Clock;
}

/** Options of the command line; they win over the options of the test. */
export interface EvalTestOptions extends Strictness {
  readonly runs?: number;
  readonly jobs?: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number, passed: number) => void;
}

/** Longest call, ms. */
const CALL_MS = 600_000;

/** @throws RangeError with a sentence for the user when the noise or the folder cannot be used; the signal's error when it aborts. */
export async function evaluateTest(
  test: Eval,
  prices: FileModels['prices'],
  setup: EvalSetup,
  { runs = test.runs ?? RUNS, jobs = test.jobs, seed, signal, onProgress, ...strictness }: EvalTestOptions,
): Promise<EvalResult> {
  const line = await lineOf(test, setup);
  const startMs = setup.clock.monotonicMs();
  const usages = new Map<LanguageModel, Usage>();
  let [done, passed] = [0, 0];
  onProgress(done, runs, passed);
  const evaluated = await evaluateRuns((run) => voiceCall(run, line), {
    ...{ persona: test.persona, expect: test.expect, runs, seed, signal },
    ...(jobs !== undefined && { atOnce: jobs }),
    ...(test.maxTurns !== undefined && { maxTurns: test.maxTurns }),
    ...(test.judge !== undefined && { judge: test.judge }),
    onRun: ({ verdict }) => {
      done += 1;
      if (verdict === 'passed') passed += 1;
      onProgress(done, runs, passed);
    },
    onTokens: (model, tokensIn, tokensOut) => {
      const known = usages.get(model) ?? { price: prices.get(model), tokensIn: 0, tokensOut: 0 };
      usages.set(model, { ...known, tokensIn: known.tokensIn + tokensIn, tokensOut: known.tokensOut + tokensOut });
    },
  });
  const tookMs = setup.clock.monotonicMs() - startMs;
  return evalResult(test, evaluated, strictness, { tookMs, usages: [...usages.values()] });
}

async function lineOf(test: Eval, { access, bots, fakes, voice, pace, record, clock }: EvalSetup): Promise<VoiceLine> {
  const { changeRate } = voice;
  const read = recordingReader({ readFile: readBounded, changeRate });
  const noise = test.noise === undefined ? undefined : decodeMulaw(await read(test.noise, `${test.file}: noise`));
  if (record !== undefined) await madeFolder(record);
  const always = {
    ...{ ...access, changeRate, noise, clock, pace, keepsSound: record !== undefined, limits: { callMs: CALL_MS } },
    ...(test.agent !== undefined && { agentId: test.agent }),
  };
  return {
    bots,
    speak: async (text) => {
      const step = { kind: 'say', label: `"${text}"`, words: text, mulaw: await voice.speak(text, test.voice) } as const;
      await announceWords(fakes?.url, [step]);
      return step;
    },
    place: (call) => placeCall({ ...always, ...call }),
    ...(record !== undefined && {
      keep: async (call, run) => {
        const file = path.join(record, `${slug(path.parse(test.file).name)}-${slug(test.name)}.${String(run)}.wav`);
        await writeFile(file, callRecording(call));
        return file;
      },
    }),
  };
}

/** Makes the folder before the first call, so that no result is lost. */
async function madeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new RangeError(`--record ${folder}: the folder cannot be made: ${error.message}`, { cause: error });
  }
}
