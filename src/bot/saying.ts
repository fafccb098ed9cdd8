// How a bot author builds a reply: prompts first, then exactly one next step. A Saying alone is no reply, so forgetting the
// next step does not compile.
import type { End, Listen, Prompt, Reply, Transfer, VoiceChoice } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import { wordsOf } from './ssml.ts';

/** Options of one prompt. */
export interface PromptOptions {
  /** Whether speech or a key may cut it. Default true; prompts before a transfer or an end are never cut (G-55). */
  readonly bargeIn?: boolean;
  /**
   * For what a handler yields: said once the caller has heard nothing for so long, ms (1 to 60,000); dropped when the handler says anything
   * else before. Only in chunk mode (G-40), and only when its sound is ready by then.
   *
   * @example
   * yield say('Let me look.', { ifSilentMs: 800 });
   */
  readonly ifSilentMs?: number;
}

/** A text in another language than the bot's does not take the bot's voice. */
export interface SayOptions extends PromptOptions, VoiceChoice {
  /**
   * The text is SSML: one `<speak>` element. Synthesizers without SSML, and a platform that speaks texts itself, get its words. The heard
   * text has no tags.
   */
  readonly ssml?: boolean;
  /**
   * False: the sound is never kept beyond this prompt, in memory or on disk. For callers' names, addresses and numbers. Default true; false
   * in `speak` and assistants.
   */
  readonly cache?: boolean;
}

/** What to listen for, and how. */
export type ListenOptions = Omit<Listen, 'kind'>;
/** Why and how the caller is transferred to a person. */
export type TransferOptions = Omit<Transfer, 'kind'>;
/** What the platform keeps of a call that ends. */
export type EndOptions = Omit<End, 'kind' | 'outcome'>;

/** Prompts that still need a next step. Immutable. */
export class Saying {
  readonly prompts: readonly Prompt[];

  constructor(prompts: readonly Prompt[]) {
    this.prompts = prompts;
  }

  /** Adds a text. @throws TypeError for SSML that is not one `<speak>` element. */
  say(text: string, { ssml = false, bargeIn = true, ...choice }: SayOptions = {}): Saying {
    return this.#with({ kind: 'text', ...(ssml ? { text: wordsOf(text), ssml: text } : { text }), bargeIn, ...choice });
  }

  /** Adds a recording: a WAV file of the prompts folder, or audio the caller spoke. */
  play(source: string | Utterance, options: PromptOptions = {}): Saying {
    const manner = { bargeIn: true, ...options };
    return this.#with(
      typeof source === 'string' ? { kind: 'file', file: source, ...manner } : { kind: 'audio', mulaw: source.mulaw, ...manner },
    );
  }

  listen(options: ListenOptions = {}): Reply {
    return { prompts: this.prompts, next: { kind: 'listen', ...options } };
  }

  transfer(options: TransferOptions): Reply {
    return { prompts: this.prompts, next: { kind: 'transfer', ...options } };
  }

  end(outcome: End['outcome'] = 'completed', options: EndOptions = {}): Reply {
    return { prompts: this.prompts, next: { kind: 'end', outcome, ...options } };
  }

  #with(prompt: Prompt): Saying {
    return new Saying([...this.prompts, prompt]);
  }
}

const nothing = new Saying([]);

/** Says a text. @throws TypeError for SSML that is not one `<speak>` element. */
export const say = (text: string, options?: SayOptions): Saying => nothing.say(text, options);
/** Plays a recording. */
export const play = (source: string | Utterance, options?: PromptOptions): Saying => nothing.play(source, options);
/** Listens without a prompt. */
export const listen = (options?: ListenOptions): Reply => nothing.listen(options);
/** Transfers without a prompt. */
export const transfer = (options: TransferOptions): Reply => nothing.transfer(options);
/** Ends without a prompt. */
export const end = (outcome?: End['outcome'], options?: EndOptions): Reply => nothing.end(outcome, options);

/**
 * The reply for the `count`th time in a row that nothing came; the last one repeats.
 *
 * @example
 * no_input: (state, { count }) => go(state, ladder(count, ask('Are you still there?'), ask('Please say a name.'), bye))
 */
export const ladder = (count: number, first: Reply, ...further: readonly Reply[]): Reply =>
  [first, ...further].at(Math.min(Math.max(count, 1), further.length + 1) - 1) ?? first;

/** A handler's result. */
export interface Answer<S> {
  readonly state: S;
  readonly reply: Reply;
}

/** See {@link keep}. */
export interface Keep<S> {
  readonly keep: S;
  readonly durable: boolean;
}

/** How a checkpoint is made. */
export interface KeepOptions {
  /** Goes on only when the store has the state, which costs a round trip; waits for 1 s at most. */
  readonly durable?: boolean;
}

/**
 * A checkpoint in a generator: the call goes on from this state when the handler is interrupted, fails or is late afterwards. Make one
 * before and after anything that must not be done twice.
 *
 * @example
 * yield keep({ request }, { durable: true });
 * yield say('One moment.');
 * const number = await book('tuesday-9', request);
 * yield keep({ request, number });
 */
export const keep = <S>(state: S, { durable = false }: KeepOptions = {}): Keep<S> => ({ keep: state, durable });

/** Creates a handler's result. */
export const go = <S>(state: S, reply: Reply): Answer<S> => ({ state, reply });
