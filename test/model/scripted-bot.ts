// A bot that does what the program says and tells the reference what it was asked and what it answered.
import { bot, go, keep, listen, say, type Answer, type Handled, type Keep, type Saying } from '../../src/bot/index.ts';
import type { Bot, BotContext, NotifyingEvent, ReplyingEvent } from '../../src/bot/bot.ts';
import type { Gates } from './gates.ts';
import type { Behaviour } from './program.ts';
import type { Kept } from './inputs.ts';
import type { Reference } from './reference.ts';
import type { Rpc } from './rpc.ts';
import { voicedFrames } from './sounds.ts';

/** The bot of every run. */
export const BOT_NAME = { id: 'scripted', name: 'Scripted', version: 1 } as const;

/** What the bot keeps for a session. */
export interface ModelLine {
  isOpen: boolean;
}

/** What a bot is made of. */
export interface BotParts {
  readonly behaviours: readonly Behaviour[];
  readonly hasNotes: boolean;
  readonly gates: Gates;
  readonly reference: Reference;
  readonly rpcOf: (turnId: string) => Rpc | undefined;
  readonly keepSignal: (signal: AbortSignal) => void;
  /** All that were opened. */
  readonly opened: ModelLine[];
  readonly note: (line: () => string) => void;
  readonly wrong: (rule: string, what: string) => void;
}

/** Makes the bot of one run. */
export function scriptedBot(parts: BotParts): Bot {
  let count = 0;
  const reply = (state: Kept, event: ReplyingEvent, context: BotContext<ModelLine>): Handled<Kept> => {
    if (!context.live.isOpen) parts.wrong('G-16', `the handler of ${event.type} got what is closed`);
    const behaviour = parts.behaviours[count % parts.behaviours.length];
    count += 1;
    if (behaviour === undefined) throw new Error('a program has a behaviour');
    const rpc = parts.rpcOf(context.turnId);
    parts.note(() => `the bot is asked: ${event.type} of RPC${String(rpc?.id)}`);
    parts.keepSignal(context.signal);
    parts.reference.inputs.asked(rpc, event, state);
    if (rpc === undefined) throw new Error('nobody knows this RPC');
    checkEvent(parts, rpc, event);
    const talk = new Talk(parts, rpc, behaviour, context.signal, [...state.asked, rpc.id]);
    return behaviour.yields > 0 ? talk.generate() : talk.answer();
  };
  const told = (_state: Kept, event: NotifyingEvent, { live }: BotContext<ModelLine>): undefined => {
    if (!live.isOpen) parts.wrong('G-16', `the bot was told of ${event.type} with what is closed`);
    parts.note(() => `the bot is told: ${event.type}`);
    parts.reference.inputs.told(event);
  };
  return bot<Kept, ModelLine>({
    ...BOT_NAME,
    live: {
      open: () => {
        const line = { isOpen: true };
        parts.opened.push(line);
        return line;
      },
      close: (line) => {
        if (!line.isOpen) parts.wrong('G-16', 'what the bot keeps for a session was closed twice');
        line.isOpen = false;
      },
    },
    session_start: (event, context) => reply({ asked: [] }, event, context),
    otherwise: reply,
    ...(parts.hasNotes ? { turn_started: told, barge_in: told, turn_ended: told, session_end: told } : {}),
  });
}

/** One answer of the bot. */
class Talk {
  readonly #parts: BotParts;
  readonly #rpc: Rpc;
  readonly #behaviour: Behaviour;
  readonly #signal: AbortSignal;
  readonly #asked: readonly number[];
  #said = 0;

  constructor(parts: BotParts, rpc: Rpc, behaviour: Behaviour, signal: AbortSignal, asked: readonly number[]) {
    this.#parts = parts;
    this.#rpc = rpc;
    this.#behaviour = behaviour;
    this.#signal = signal;
    this.#asked = asked;
  }

  async *generate(): AsyncGenerator<Saying | Keep<Kept>, Answer<Kept>> {
    for (let part = 0; part < this.#behaviour.yields; part += 1) {
      if (this.#behaviour.keeps) {
        yield keep({ asked: this.#asked });
        this.#rpc.hasKept = true;
      }
      yield this.#say(true);
      if (this.#behaviour.pace !== 'at_once') await this.#think();
    }
    return this.#finish();
  }

  async answer(): Promise<Answer<Kept>> {
    await this.#think();
    return this.#finish();
  }

  #say(isEarly = false): Saying {
    const { bargeIn, promptMs } = this.#behaviour;
    this.#said += 1;
    const text = `RPC${String(this.#rpc.id)} part ${String(this.#said)}, ${String(promptMs)} ms`;
    this.#rpc.said.push(text);
    if (isEarly) this.#rpc.early.add(text);
    return say(text, { bargeIn });
  }

  async #think(): Promise<void> {
    const { gates, note } = this.#parts;
    const { pace } = this.#behaviour;
    if (pace === 'at_once') return;
    const name = `the bot for RPC${String(this.#rpc.id)}`;
    if (pace === 'later') return gates.pass(name, () => undefined);
    return new Promise((_resolve, reject) => {
      if (pace === 'never') return;
      const stop = (): void => {
        note(() => `${name} obeys and stops`);
        reject(new DOMException('stopped', 'AbortError'));
      };
      if (this.#signal.aborted) stop();
      else this.#signal.addEventListener('abort', stop, { once: true });
    });
  }

  #finish(): Answer<Kept> {
    const { deed, prompts } = this.#behaviour;
    const { note } = this.#parts;
    note(() => `the bot for RPC${String(this.#rpc.id)}: ${deed}`);
    // What comes after the apology is not waited for.
    const isWaitedFor = this.#rpc.fate === 'asked';
    if (deed === 'throw' || deed === 'nonsense') {
      if (isWaitedFor) this.#rpc.fate = 'failed';
      if (deed === 'throw') throw new Error('the script says so');
      // What a bot in plain JavaScript may return.
      return { state: { asked: this.#asked }, reply: { prompts: 'none', next: undefined } } as unknown as Answer<Kept>;
    }
    if (isWaitedFor) this.#rpc.fate = deed === 'listen' ? 'answered' : 'farewell';
    let saying: Saying | undefined;
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      const [next] = this.#say().prompts;
      if (next?.kind !== 'text') continue;
      const { text, bargeIn } = next;
      saying = saying === undefined ? say(text, { bargeIn }) : saying.say(text, { bargeIn });
    }
    const state = { asked: this.#asked };
    const reply = { prompts: saying?.prompts ?? [] };
    if (deed === 'listen') return go(state, { ...listen(), ...reply });
    if (deed === 'transfer') return go(state, { ...reply, next: { kind: 'transfer', reason: 'script' } });
    return go(state, { ...reply, next: { kind: 'end', outcome: 'script' } });
  }
}

function checkEvent({ wrong }: BotParts, rpc: Rpc, event: ReplyingEvent): void {
  if (event.type === 'dtmf_input' && event.digits !== String(rpc.id)) wrong('G-57', `RPC${String(rpc.id)} got the digits ${event.digits}`);
  if (event.type === 'custom_event' && event.name !== `event-${String(rpc.id)}`)
    wrong('G-57', `RPC${String(rpc.id)} got the event ${event.name}`);
  if (event.type !== 'speech_input') return;
  const heard = voicedFrames(event.utterance.mulaw, rpc.id);
  if (heard < rpc.voiced) wrong('G-38', `the utterance of RPC${String(rpc.id)} has ${String(heard)} of ${String(rpc.voiced)} frames`);
}
