// Runs one tool use of the model: validates its input, makes checkpoints around work that must not happen twice, and returns the reply when
// the tool use ends the turn.
import { AppError } from '../base/errors.ts';
import { parseJson, throughJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { keep, type Keep, type Saying } from '../bot/saying.ts';
import type { Use } from './answer.ts';
import type { Draft } from './draft.ts';
import type { ToolMessage } from './history.ts';
import type { AssistantState, AssistantTurn } from './options.ts';
import { recordedRun } from './recorded.ts';
import type { Usable } from './rules.ts';
import type { KeyedTool, Tool, ToolContext } from './tool.ts';
import type { RunEnd } from './tool-runs.ts';

/** Longest tool result in a prompt, characters of JSON. */
const MAX_RESULT_CHARS = 8000;
/** Default time limit of a tool, ms. */
const LIMIT_MS = 20_000;
/** Default number of times to ask a caller for digits. */
const TRIES = 3;

/** Puts an assistant's state into a state of the surrounding bot. */
export type At<D extends JsonObject, S> = (state: AssistantState<D>) => S;

/** Runs one tool use. @returns the result of the turn; undefined when the model must continue. */
export async function* useTool<D extends JsonObject, S>(
  draft: Draft<D>,
  { tool: name, input: given, metadata }: Use,
  isWithLast: boolean,
  at: At<D, S>,
): AsyncGenerator<Saying | Keep<S>, AssistantTurn<D> | undefined> {
  const entry = draft.rules.usable.get(name);
  const parsed = given === '' ? {} : parseJson(given);
  const checked = entry === undefined || entry.kind === 'keyed' ? undefined : entry.input.safeParse(parsed);
  const message = draft.begin(name, checked?.success === true ? throughJson(parsed) : {}, {
    ...(metadata !== undefined && { metadata }),
    ...(isWithLast && { isWithLast }),
  });
  const wrong =
    entry === undefined
      ? `there is no tool named ${name}`
      : checked?.success === false
        ? `wrong input: ${checked.error.issues.map(said).join('; ')}`
        : undefined;
  if (entry === undefined || wrong !== undefined) {
    draft.end(message.id, { outcome: { value: wrong ?? '', isError: true } });
    return undefined;
  }
  return yield* useEntry(draft, entry, message, checked?.data ?? {}, at);
}

function said({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  return `${path.map(String).join('.')} ${message}`.trim();
}

async function* useEntry<D extends JsonObject, S>(
  draft: Draft<D>,
  entry: Usable<D>,
  message: ToolMessage,
  input: unknown,
  at: At<D, S>,
): AsyncGenerator<Saying | Keep<S>, AssistantTurn<D> | undefined> {
  switch (entry.kind) {
    case 'tool':
      return yield* runTool(draft, entry, message, input, at);
    case 'keyed':
      draft.change({ keying: { use: message.id, tool: message.tool, tries: 1 } });
      return askForDigits(draft, entry);
    case 'exit':
      return { state: draft.state, exit: message.tool, input: message.input };
    case 'transfer': {
      const given = entry.input.parse(input);
      draft.end(message.id, { outcome: { value: 'the caller is being transferred' } });
      const { to, says = draft.phrases.transferring } = entry.rule;
      const options = to?.(given, { call: draft.context.call, data: draft.state.data }) ?? given;
      return draft.reply((draft.hasSpoken ? draft.silent : draft.say(says)).transfer(options));
    }
    case 'end':
      draft.end(message.id, { outcome: { value: 'the call has ended' } });
      return draft.reply((entry.says === undefined ? draft.silent : draft.say(entry.says)).end(entry.outcome));
    case 'language': {
      const { language } = entry.input.parse(input);
      draft.change({ language });
      draft.end(message.id, { outcome: { value: 'done' } });
      return draft.ask(draft.rules.languages?.[language]?.greeting ?? draft.phrases.stillThere);
    }
  }
}

async function* runTool<D extends JsonObject, S>(
  draft: Draft<D>,
  tool: Tool<D>,
  message: ToolMessage,
  input: unknown,
  at: At<D, S>,
): AsyncGenerator<Saying | Keep<S>, AssistantTurn<D> | undefined> {
  const { context, runs } = draft;
  if (tool.says !== undefined && !draft.hasSpoken) yield draft.say(tool.says);
  if (tool.readOnly !== true) {
    // From here on, a later turn must assume that the tool may have started.
    runs.prepare(message.id);
    yield keep(at(draft.state), { durable: true });
  }
  if (draft.isInterrupted()) {
    draft.collect();
    return draft.listen();
  }
  const limit = { ms: tool.limitMs ?? LIMIT_MS, clock: context.clock, ...(tool.readOnly === true && { stop: context.signal }) };
  const beganAtMs = context.clock.monotonicMs();
  // The tool's own schema has accepted `input`.
  const run = runs.run(
    message.id,
    (signal) => recordedRun(context, message.tool, signal, () => ended(draft, message, (own) => tool.run(input as never, own), signal)),
    limit,
  );
  await settledOrStopped(run, context.signal);
  draft.collect();
  const outcome = draft.outcomeOf(message.id);
  if (outcome !== undefined) draft.noteTool(message.tool, beganAtMs, outcome.isError !== true);
  if (draft.isInterrupted()) return draft.listen();
  yield keep(at(draft.state), { durable: tool.readOnly !== true });
  return undefined;
}

/** Resolves when the run has ended or the caller interrupts it. */
async function settledOrStopped(run: Promise<RunEnd>, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([run, stopped]);
  signal.removeEventListener('abort', stop);
}

/** Runs the author's code. Resolves with what the model reads, never rejects, and logs only names. */
async function ended<D extends JsonObject>(
  { context: { call, log, clock }, state }: Draft<D>,
  { id, tool }: ToolMessage,
  work: (context: ToolContext<D>) => JsonValue | undefined | Promise<JsonValue | undefined>,
  signal: AbortSignal,
): Promise<RunEnd> {
  let data: JsonObject = {};
  const set = (changes: Partial<D>): void => {
    data = { ...data, ...(throughJson(changes) as JsonObject) };
  };
  try {
    const own = {
      ...{ call, log, clock, useId: id, signal, set },
      get data() {
        return { ...state.data, ...data };
      },
    };
    const value = throughJson((await work(own)) ?? null, MAX_RESULT_CHARS);
    return { outcome: { value }, data };
  } catch (thrown) {
    if (signal.aborted) return { outcome: { value: 'stopped', isError: true }, data };
    const error = thrown instanceof AppError ? thrown.code : thrown instanceof Error ? thrown.name : typeof thrown;
    log.warn({ tool, error }, 'a tool of the assistant failed');
    return { outcome: { value: 'the tool failed', isError: true }, data };
  }
}

/** Asks for the digits of a {@link KeyedTool}. */
function askForDigits<D extends JsonObject>(draft: Draft<D>, { ask, digits }: KeyedTool<D>): AssistantTurn<D> {
  return draft.reply(draft.say(ask).listen({ ...draft.rules.listen, digits, accept: 'keys', sensitive: true }));
}

/** Handles the caller's response to a question for digits. @returns the result of the turn; undefined when the model must continue. */
export async function* takeDigits<D extends JsonObject, S>(
  draft: Draft<D>,
  digits: string | undefined,
  at: At<D, S>,
): AsyncGenerator<Saying | Keep<S>, AssistantTurn<D> | undefined> {
  const { keying } = draft.state;
  const entry = draft.rules.usable.get(keying?.tool ?? '');
  if (keying === undefined || entry?.kind !== 'keyed') return undefined;
  const { context, runs } = draft;
  let end: RunEnd | undefined;
  if (digits?.length === entry.digits) {
    draft.forgetKeying();
    runs.prepare(keying.use);
    yield keep(at(draft.state), { durable: true });
    const limit = { ms: LIMIT_MS, clock: context.clock };
    const message = { by: 'tool', id: keying.use, tool: keying.tool, input: {} } as const;
    const beganAtMs = context.clock.monotonicMs();
    const run = runs.run(
      keying.use,
      (signal) => recordedRun(context, keying.tool, signal, () => ended(draft, message, (own) => entry.use(digits, own), signal)),
      limit,
    );
    await settledOrStopped(run, context.signal);
    const taken = runs.take(keying.use);
    if (taken === 'running') return draft.listen();
    end = taken;
    draft.noteTool(keying.tool, beganAtMs, end !== undefined && end.outcome.isError !== true);
  }
  if (end !== undefined && (end.outcome.isError === true || end.outcome.value !== null)) {
    draft.end(keying.use, end);
    yield keep(at(draft.state), { durable: true });
    return draft.isInterrupted() ? draft.listen() : undefined;
  }
  if (keying.tries < (entry.tries ?? TRIES)) {
    draft.change({ keying: { ...keying, tries: keying.tries + 1 } });
    return askForDigits(draft, entry);
  }
  draft.forgetKeying();
  draft.end(keying.use, { outcome: { value: 'the caller did not key it in', isError: true } });
  return undefined;
}
