// Notes the answers of models and tools for the recording of a call, and returns the recorded answers in a replay. A speech-to-speech
// model, which hears the caller itself, is left out.
import { z } from 'zod';
import { pause } from '../base/abort.ts';
import { throughJson } from '../base/json.ts';
import type { BotServices, RecordedAnswer } from '../bot/services.ts';
import { MODEL_FAILURES } from '../dialog/turn-report.ts';
import type { AnyContext } from './draft.ts';
import type { ModelPart } from './model.ts';
import type { RunEnd } from './tool-runs.ts';

/** Replaces a sensitive answer, which the recording does not keep. */
const WITHHELD = 'Withheld.';

/** An answer that was aborted in the recording takes this long in a replay, ms, unless the replayed call aborts it, too. */
const ABORT_MS = 600_000;

/** A part of an answer, and when the part came, ms since the question. */
type TimedPart = ModelPart & { readonly ms: number };

/** The parts of a model's answer: recorded ones, or those of `source`, which asks the model. @param name - of the model. */
export function recordedParts(context: AnyContext, name: string, source: () => AsyncIterable<ModelPart>): AsyncIterable<ModelPart> {
  const { services } = context;
  return services === undefined ? source() : partsWith(services, context, name, source);
}

async function* partsWith(
  services: BotServices,
  { clock, signal }: AnyContext,
  name: string,
  source: () => AsyncIterable<ModelPart>,
): AsyncGenerator<ModelPart, void> {
  const { recorded, answered } = services.ask('model', name);
  const askedAtMs = clock.monotonicMs();
  const parts: TimedPart[] = [];
  const until = (ms: number): Promise<boolean> => pause(askedAtMs + ms - clock.monotonicMs(), clock, signal);
  try {
    for await (const part of recorded === undefined ? source() : timed(partsOf(recorded), until)) {
      parts.push({ ...part, ms: clock.monotonicMs() - askedAtMs });
      yield part;
    }
  } finally {
    answered(throughJson(parts));
  }
}

/** Yields each part at its recorded time. @param until - resolves with false when nobody wants the answer any more. */
async function* timed(parts: readonly TimedPart[], until: (ms: number) => Promise<boolean>): AsyncGenerator<ModelPart, void> {
  for (const { ms, ...part } of parts) {
    const isAborted = part.kind === 'failed' && part.why === 'aborted';
    const isWanted = await until(isAborted ? ABORT_MS : ms);
    yield isWanted ? part : { kind: 'failed', why: 'aborted' };
    if (!isWanted) return;
  }
}

/** The outcome of a tool's run: the recorded one, or that of `run`, which runs the tool. */
export async function recordedRun(
  { services, clock }: Pick<AnyContext, 'services' | 'clock'>,
  name: string,
  signal: AbortSignal,
  run: () => Promise<RunEnd>,
): Promise<RunEnd> {
  if (services === undefined) return run();
  const { recorded, answered } = services.ask('tool', name);
  if (recorded !== undefined) await pause(recorded.tookMs, clock, signal);
  const end = recorded === undefined ? await run() : endOf(recorded.answer);
  // An aborted run has no outcome of its own to record.
  if (!signal.aborted) answered(throughJson(end));
  return end;
}

const MS = { ms: z.number() };
const PARTS: z.ZodType<readonly TimedPart[]> = z.array(
  z.discriminatedUnion('kind', [
    z.object({ ...MS, kind: z.literal('text'), text: z.string() }),
    z.object({
      ...MS,
      kind: z.literal('use'),
      tool: z.string(),
      input: z.string(),
      metadata: z.record(z.string(), z.json()).exactOptional(),
    }),
    z.object({ ...MS, kind: z.literal('end'), tokensIn: z.number(), tokensOut: z.number() }),
    z.object({ ...MS, kind: z.literal('failed'), why: z.enum(MODEL_FAILURES), status: z.number().exactOptional() }),
  ]),
);
const RUN_END: z.ZodType<RunEnd> = z.object({
  outcome: z.object({ value: z.json(), isError: z.literal(true).exactOptional() }),
  data: z.record(z.string(), z.json()),
});

function partsOf({ tookMs, answer }: RecordedAnswer): readonly TimedPart[] {
  if (answer === undefined) return [{ ms: tookMs, kind: 'failed', why: 'error' }];
  const withheld = [
    { ms: 0, kind: 'text', text: WITHHELD },
    { ms: 0, kind: 'end', tokensIn: 0, tokensOut: 0 },
  ] as const;
  return PARTS.safeParse(answer).data ?? withheld;
}

function endOf(answer: unknown): RunEnd {
  if (answer === undefined) return { outcome: { value: 'not in the recording', isError: true }, data: {} };
  return RUN_END.safeParse(answer).data ?? { outcome: { value: WITHHELD }, data: {} };
}
