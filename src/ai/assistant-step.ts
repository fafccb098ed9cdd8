// An assistant as a step of a hand-written bot: answers one turn. Uses the public bot API alone. The surrounding bot stores the step's
// state, passes the caller's events to the step, and follows its exits.
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { CallerEvent, PrepareEvent } from '../bot/events.ts';
import { keep, say, type Keep, type Saying } from '../bot/saying.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { Reply } from '../dialog/reply.ts';
import type { ModelBudget } from '../dialog/turn-report.ts';
import { answerAhead, answering, type Answering } from './answer.ts';
import { Draft, type AnyContext } from './draft.ts';
import { settled } from './history.ts';
import type { AssistantOptions, AssistantState, AssistantTurn } from './options.ts';
import { inputOf, mayPrepare, type PreparedAnswer } from './prepared-answer.ts';
import { rulesOf, type AssistantRules } from './rules.ts';
import { takeDigits, useTool, type At } from './use-tool.ts';

/** A running turn of an assistant: yields prompts and checkpoints, returns the result of the turn. */
export type AssistantTalk<D extends JsonObject, S> = AsyncGenerator<Saying | Keep<S>, AssistantTurn<D>>;

/** See {@link assistantStep}. */
export interface AssistantStep<D extends JsonObject = JsonObject> {
  /** The first state, and a reply that says the greeting. The history contains the greeting. */
  begin(call: CallFacts): { readonly state: AssistantState<D>; readonly reply: Reply };
  /**
   * Answers one event. Call it with `yield*` in a generator of the surrounding bot.
   * @param at - puts the step's state into a state of the surrounding bot, for checkpoints.
   */
  turn<S>(state: AssistantState<D>, event: CallerEvent<PreparedAnswer | undefined>, context: AnyContext, at: At<D, S>): AssistantTalk<D, S>;
  /** For `prepare` of the surrounding bot: asks the model early, but not while keys are awaited or a tool runs. */
  prepare(state: AssistantState<D>, event: PrepareEvent, context: AnyContext): PreparedAnswer | undefined;
  /** Continues after an exit. The model gets `outcome` as the result of the exit. */
  resume<S>(state: AssistantState<D>, outcome: JsonValue, context: AnyContext, at: At<D, S>): AssistantTalk<D, S>;
}

/** Longest wait for a tool that an earlier turn started, ms. */
const RUNNING_TOOL_MS = 1500;
/** The caller is transferred after this many model failures in a row, or this many turns in a row without a recognizer. */
export const MOST_FAILURES = 2;
/** The call ends after this many silences in a row. */
const MOST_SILENCES = 3;

/** The reasons of transfers, by the budget that is used up. */
const USED_UP = {
  turns: 'the call took too many turns',
  tokens: 'the call took too many tokens',
  seconds: 'the call took too long',
} as const satisfies Partial<Record<ModelBudget, string>>;

/**
 * Makes an assistant that is one step of a larger bot.
 *
 * @throws TypeError for invalid options: a model that is not a language model, or a tool name that models refuse.
 *
 * @example
 * const { state, reply, exit } = yield* desk.turn(before, event, context, (desk) => ({ at: 'desk', desk }));
 */
export function assistantStep<D extends JsonObject = JsonObject>(options: AssistantOptions<D>): AssistantStep<D> {
  const [rules, answer] = [rulesOf(options), answering(options)];
  return {
    ...stepOf(rules, (_, event) => answer(event?.type === 'speech_input' ? event.prepared : undefined)),
    prepare(state, event, context) {
      if (options.early === false || !mayPrepare(state)) return undefined;
      const draft = new Draft(rules, state, context);
      return isForModel(draft, inputOf(event)) ? answerAhead(draft, options) : undefined;
    },
  };
}

/** Adds an input to the history. @returns whether the model must answer the input. */
function isForModel<D extends JsonObject>(draft: Draft<D>, event: CallerEvent): boolean {
  draft.change({ messages: settled(draft.state.messages, event.heard), turns: draft.state.turns + 1 });
  return withoutModel(draft, event) === undefined;
}

/** An event. `item` is set for a model that hears the caller itself: the name of the utterance in the model's session. */
export type NamedEvent<P = unknown> = CallerEvent<P> & { readonly item?: string };

/** A step whose answers `answerTo` makes. @param answerTo - called for each event, and without an event to continue after an exit. */
export function stepOf<D extends JsonObject>(
  rules: AssistantRules<D>,
  answerTo: (context: AnyContext, event?: CallerEvent<PreparedAnswer | undefined>) => Answering<D>,
): Omit<AssistantStep<D>, 'prepare'> {
  return {
    begin(call) {
      const text = typeof rules.greeting === 'string' ? rules.greeting : rules.greeting(call);
      const messages = [{ by: 'assistant', text, prompts: [text] }] as const;
      // Without data from the author, D is JsonObject, so an empty object fits.
      const data = rules.data ?? ({} as D);
      return {
        state: { messages, data, turns: 0, tokens: 0, uses: 0, failures: 0, unheard: 0 },
        reply: say(text, { cache: typeof rules.greeting === 'string' }).listen(rules.listen),
      };
    },
    turn: (state, event: NamedEvent<PreparedAnswer | undefined>, context, at) =>
      reported(new Draft(rules, state, context), (draft) => turn(draft, event, at, answerTo(context, event))),
    resume: (state, outcome, context, at) =>
      reported(new Draft(rules, state, context), (draft) => resume(draft, outcome, at, answerTo(context))),
  };
}

async function* reported<D extends JsonObject, S>(draft: Draft<D>, talk: (draft: Draft<D>) => AssistantTalk<D, S>): AssistantTalk<D, S> {
  const { rules, context } = draft;
  try {
    return yield* talk(draft);
  } finally {
    const report = draft.report();
    if (report.model !== '' || report.failures.length > 0 || report.usedUp !== undefined) {
      context.log.info({ ...report }, 'a turn of the assistant');
      context.report?.(report);
      try {
        rules.onTurn?.(report);
      } catch (thrown) {
        context.log.warn({ error: thrown instanceof Error ? thrown.name : typeof thrown }, 'onTurn of the assistant threw');
      }
    }
  }
}

async function* turn<D extends JsonObject, S>(draft: Draft<D>, event: NamedEvent, at: At<D, S>, answer: Answering<D>): AssistantTalk<D, S> {
  draft.change({ messages: settled(draft.state.messages, event.heard), turns: draft.state.turns + 1 });
  if (draft.state.keying !== undefined) {
    const digits = event.type === 'dtmf_input' ? event.digits : undefined;
    const over = yield* takeDigits(draft, digits, at);
    return over ?? (yield* rounds(draft, at, answer));
  }
  const known = withoutModel(draft, event);
  if (known !== undefined) return known;
  yield keep(at(draft.state));
  return yield* rounds(draft, at, answer);
}

async function* resume<D extends JsonObject, S>(
  draft: Draft<D>,
  value: JsonValue,
  at: At<D, S>,
  answer: Answering<D>,
): AssistantTalk<D, S> {
  const exit = draft.state.messages.findLast((message) => message.by === 'tool' && message.outcome === undefined);
  if (exit?.by === 'tool') draft.end(exit.id, { outcome: { value } });
  return yield* rounds(draft, at, answer);
}

/** The reply to an event that needs no model. Undefined: the model must answer; the history already has the caller's input. */
function withoutModel<D extends JsonObject>(draft: Draft<D>, event: NamedEvent): AssistantTurn<D> | undefined {
  const { rules, phrases, state } = draft;
  switch (event.type) {
    case 'no_input':
      if (event.count < MOST_SILENCES) return draft.ask(phrases.stillThere);
      return draft.reply(draft.say(phrases.goodbye).end('no_input'));
    case 'dtmf_input':
      if (event.by === 'keys' && rules.keys === 'off') return draft.ask(phrases.noKeys);
      if (event.digits === '') return draft.ask(phrases.notUnderstood);
      draft.add({ by: 'caller', text: event.by === 'keys' ? `[keys pressed: ${event.digits}]` : event.digits });
      break;
    case 'custom_event':
      draft.add({ by: 'caller', text: `[event ${event.name}: ${JSON.stringify(event.parameters).slice(0, 2000)}]` });
      break;
    case 'speech_input':
      if (event.understood === 'nothing') return draft.ask(phrases.notUnderstood);
      if (event.text === undefined) {
        draft.change({ unheard: state.unheard + 1 });
        return state.unheard + 1 < MOST_FAILURES ? draft.ask(phrases.notHeard) : giveUp(draft, 'the caller could not be heard');
      }
      draft.add({ by: 'caller', text: rules.redact?.(event.text) ?? event.text, ...(event.item !== undefined && { item: event.item }) });
  }
  draft.change({ unheard: 0 });
  const used = usedUp(draft);
  if (used === undefined) return undefined;
  draft.noteUsedUp(used);
  return giveUp(draft, USED_UP[used]);
}

function usedUp<D extends JsonObject>({ rules: { limits }, state, context }: Draft<D>): keyof typeof USED_UP | undefined {
  if (state.turns > limits.turns) return 'turns';
  if (state.tokens > limits.tokens) return 'tokens';
  return context.clock.nowMs() - context.call.startedAtMs > limits.seconds * 1000 ? 'seconds' : undefined;
}

function giveUp<D extends JsonObject>(draft: Draft<D>, reason: string): AssistantTurn<D> {
  return draft.reply(draft.say(draft.phrases.givingUp).transfer({ reason }));
}

/** Alternates between answers of the model and tool uses, until the caller is to speak next. */
async function* rounds<D extends JsonObject, S>(draft: Draft<D>, at: At<D, S>, answer: Answering<D>): AssistantTalk<D, S> {
  const { context, rules, runs } = draft;
  await runs.ended(RUNNING_TOOL_MS, context.clock, context.signal);
  draft.collect();
  for (let round = 0; round < rules.limits.rounds; round += 1) {
    const { uses, failed } = yield* answer(draft);
    if (draft.isInterrupted()) return draft.listen();
    if (failed !== undefined) return excuse(draft);
    if (uses.length === 0) {
      draft.change({ failures: 0 });
      return draft.listen();
    }
    for (const [index, use] of uses.entries()) {
      const over = yield* useTool(draft, use, index > 0, at);
      if (over !== undefined) return over;
    }
  }
  context.log.warn({ rounds: rules.limits.rounds }, 'the model uses tools without end');
  draft.noteUsedUp('rounds');
  return excuse(draft);
}

function excuse<D extends JsonObject>(draft: Draft<D>): AssistantTurn<D> {
  const failures = draft.state.failures + 1;
  draft.change({ failures });
  if (failures < MOST_FAILURES || draft.rules.hasFallback === true) return draft.ask(draft.phrases.lost);
  return giveUp(draft, 'the model failed');
}
