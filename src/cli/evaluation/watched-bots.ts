// Observes the states of bots in the same process: which tools their assistants use, and the texts of speech-to-speech models. The bots
// behave as before.
import { waitAtMost } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Bot, Handled } from '../../bot/bot.ts';
import type { Answer, Keep, Saying } from '../../bot/saying.ts';
import { collectUses, lastSaid, type UsedTool } from '../../bot/test-tools.ts';

/** Longest wait for session_end, ms; the bot gets this event after the caller has left. */
const END_MS = 3000;

/** The observed states of one call. */
export class WatchedCall {
  readonly #tools = new Map<string, UsedTool>();
  #end: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => (this.#end = resolve));
  /** The last reply of an assistant; empty for other bots. */
  lastSaid = '';

  see(state: JsonValue): void {
    collectUses(state, this.#tools);
    this.lastSaid = lastSaid(state);
  }

  end(): void {
    this.#end();
  }

  /** The tools that the bot used. Waits for the end of the call. */
  async tools(): Promise<readonly UsedTool[]> {
    await waitAtMost(this.#ended, END_MS, systemClock);
    return [...this.#tools.values()];
  }
}

/** Wraps bots so that their calls can be observed. */
export class WatchedBots {
  readonly bots: readonly Bot[];
  readonly #calls = new Map<string, WatchedCall>();

  constructor(bots: readonly Bot[]) {
    this.bots = bots.map((bot) => this.#watched(bot));
  }

  /** Observes a call that is about to begin. */
  watch(conversationId: string): WatchedCall {
    const call = new WatchedCall();
    this.#calls.set(conversationId, call);
    return call;
  }

  forget(conversationId: string): void {
    this.#calls.delete(conversationId);
  }

  #watched(bot: Bot): Bot {
    const callOf = ({ call }: { readonly call: { readonly conversationId: string } }) => this.#calls.get(call.conversationId);
    const { woken } = bot;
    return {
      ...bot,
      notes: new Set([...bot.notes, 'session_end']),
      start: (event, context) => seen(bot.start(event, context), callOf(context)),
      reply: (state, event, context) => {
        callOf(context)?.see(state);
        return seen(bot.reply(state, event, context), callOf(context));
      },
      woken: woken && ((state, event, context) => seen(woken(state, event, context), callOf(context))),
      note: (state, event, context) => {
        callOf(context)?.see(state);
        if (event.type === 'session_end') callOf(context)?.end();
        return bot.note(state, event, context);
      },
    };
  }
}

async function* seen(
  handled: Handled<JsonValue>,
  call: WatchedCall | undefined,
): AsyncGenerator<Saying | Keep<JsonValue>, Answer<JsonValue>> {
  const answer = 'next' in handled ? yield* handled : await handled;
  call?.see(answer.state);
  return answer;
}
