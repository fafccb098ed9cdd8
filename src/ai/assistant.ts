// An assistant as a complete bot: greeting, turns, and the report at the end of a call.
import type { JsonObject } from '../base/json.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { bot, type Bot, type BotDefinition } from '../bot/bot.ts';
import type { Live } from '../bot/live.ts';
import { go, type Answer, type Keep, type Saying } from '../bot/saying.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import { assistantStep, type AssistantStep, type AssistantTalk } from './assistant-step.ts';
import type { AssistantManners, AssistantOptions, AssistantState } from './options.ts';
import { phrasesIn } from './phrases.ts';
import type { PreparedAnswer } from './prepared-answer.ts';
import { ToolRuns } from './tool-runs.ts';

/** Options that a complete bot has in addition to those of its step. */
export interface AssistantBotOptions<D extends JsonObject = JsonObject>
  extends Omit<AssistantOptions<D>, 'exits'>, Pick<BotDefinition<never>, 'id' | 'name' | 'voice' | 'speech' | 'filler'> {
  /** See {@link BotDefinition.version}. Default 1. */
  readonly version?: number;
}

interface LiveCall<L> {
  readonly call: CallFacts;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Logger;
  readonly connection: L | undefined;
  end?: { readonly state: AssistantState; readonly by: SessionEnd };
}

/** A step, and the options that make a bot of it. */
export interface AssistantParts<D extends JsonObject, L>
  extends
    Pick<AssistantManners<D>, 'greeting' | 'phrases' | 'onEnd' | 'language'>,
    Pick<BotDefinition<never>, 'id' | 'name' | 'voice' | 'speech' | 'filler' | 'recognition'> {
  readonly version?: number;
  readonly step: AssistantStep<D>;
  /** Set when the step needs a connection for each call. */
  readonly connection?: Live<unknown, L>;
}

/** Longest wait for running tools after the call has ended, ms. */
const LAST_TOOLS_MS = 1800;

/**
 * Makes a bot of a language model: it greets, listens, speaks while the model still writes, and uses tools. A tool runs once, whatever the
 * caller does meanwhile; the history holds only what the caller heard.
 *
 * @throws TypeError for invalid options.
 *
 * @example
 * export default assistant({ id: 'desk', name: 'Desk', model, instructions: 'You book appointments.', greeting: 'Hello.', tools: { book }
 * });
 */
export function assistant<D extends JsonObject = JsonObject>(options: AssistantBotOptions<D>): Bot {
  return botOf({ ...options, step: assistantStep(options) });
}

/** A bot whose only step is this assistant. */
export function botOf<D extends JsonObject, L = undefined>(parts: AssistantParts<D, L>): Bot {
  const { id, name, version = 1, voice, language, speech, filler, recognition, greeting, connection } = parts;
  // A state's data was written by this step and went through JSON, so the data still has the step's type.
  const step = parts.step as unknown as AssistantStep;
  const onEnd = parts.onEnd as unknown as AssistantManners['onEnd'];
  const phrases = Object.values({ ...phrasesIn(language), ...parts.phrases });
  return bot<AssistantState, LiveCall<L>, PreparedAnswer | undefined>({
    ...{ id, name, version },
    ...(voice !== undefined && { voice }),
    ...(language !== undefined && { language }),
    ...(speech !== undefined && { speech }),
    ...(filler !== undefined && { filler }),
    ...(recognition !== undefined && { recognition }),
    prompts: [...(typeof greeting === 'string' ? [greeting] : []), ...phrases],
    live: {
      open(context) {
        const { call, clock, log } = context;
        return { call, clock, log, connection: connection?.open(context) };
      },
      async close({ call, clock, log, end, ...live }, why) {
        if (live.connection !== undefined) void connection?.close?.(live.connection, why);
        if (end === undefined || onEnd === undefined) return;
        const runs = ToolRuns.of(call);
        await runs.ended(LAST_TOOLS_MS, clock);
        const { messages, data, tokens } = withLastTools(end.state, runs);
        try {
          onEnd({ call, messages, data, tokens, by: end.by });
        } catch (thrown) {
          log.warn({ error: thrown instanceof Error ? thrown.name : typeof thrown }, 'onEnd of the assistant threw');
        }
      },
    },
    session_start(_, { call }) {
      const { state, reply } = step.begin(call);
      return go(state, reply);
    },
    prepare: (state, event, context) => step.prepare(state, event, context),
    // Named although `otherwise` does the same: a server without a recognizer warns of bots that handle `speech_input`.
    speech_input: (state, event, context) => answered(step.turn(state, event, context, (next) => next)),
    otherwise: (state, event, context) => answered(step.turn(state, event, context, (next) => next)),
    session_end(state, { by }, { live }) {
      live.end = { state, by };
      return undefined;
    },
  });
}

async function* answered(
  talk: AssistantTalk<JsonObject, AssistantState>,
): AsyncGenerator<Saying | Keep<AssistantState>, Answer<AssistantState>> {
  const done = yield* talk;
  // A bot without exits cannot leave through one.
  if (done.exit !== undefined) throw new AppError('internal', 'an assistant without exits left through one');
  return go(done.state, done.reply);
}

function withLastTools(state: AssistantState, runs: ToolRuns): AssistantState {
  let data = state.data;
  const messages = state.messages.map((message) => {
    const end = message.by === 'tool' && message.outcome === undefined ? runs.take(message.id) : undefined;
    if (end === undefined || end === 'running') return message;
    data = { ...data, ...end.data };
    return { ...message, outcome: end.outcome };
  });
  return { ...state, messages, data };
}
