// What reaches the bot of one call: each complete input once and in order, and what happened to the caller's ear meanwhile.
// One of the three parts of the reference; knows nothing of speech and prompts.
import { BargeIns, type BargeIn } from './barge-ins.ts';
import type { Outputs } from './outputs.ts';
import type { Reference } from './reference.ts';
import { UNHEARD, type HeardPart, type Rpc } from './rpc.ts';
import type { View } from './view.ts';

/** What the bot keeps: the RPCs it was asked about. */
export interface Kept {
  readonly asked: readonly number[];
}

/** The bot's side of one call. */
export class Inputs {
  readonly #view: View;
  readonly #call: Reference;
  readonly #outputs: Outputs;
  /** Complete inputs in the order of the caller. */
  #inputs: Rpc[] = [];
  #bargeIns = new BargeIns();
  /** It heard of the end of its session. */
  #isDone = false;
  /** As things were when the newest answer began to be made. */
  #answer = { begun: 0, turns: 0, wasUnspoken: false };

  constructor(view: View, call: Reference, outputs: Outputs) {
    this.#view = view;
    this.#call = call;
    this.#outputs = outputs;
  }

  /** A session begins. @param turns - that were answered before. @param isContinued - what was answered must be known here, too. */
  begin(turns: number, isContinued = false): void {
    if (isContinued) this.moved();
    else this.#inputs = [];
    [this.#bargeIns, this.#isDone] = [new BargeIns(), false];
    this.#answer = { begun: 0, turns, wasUnspoken: false };
  }

  /** The call is taken from a process, and with it what did not reach the bot yet: the RPCs of those inputs are over. */
  moved(): void {
    this.#inputs = this.#inputs.filter(({ fate }) => fate !== 'none');
  }

  /** An input is complete. */
  owed(rpc: Rpc): void {
    this.#inputs.push(rpc);
  }

  /** The caller acted over a reply; a bot that has not answered the start of the call has no state and may not be told. */
  bargedIn(bargeIn: BargeIn): void {
    this.#bargeIns.happened(bargeIn, !this.#isStarted);
  }

  /** The bot is asked: each complete input once and in order, the first of a call as its start (005). */
  asked(rpc: Rpc | undefined, event: { readonly type: string; readonly heard?: HeardPart }, state: Kept): void {
    if (rpc?.input === undefined || rpc.fate !== 'none') {
      this.#view.wrong('005', `the bot was asked about RPC${String(rpc?.id)}, which has no new input`);
      return;
    }
    const name = `RPC${String(rpc.id)}`;
    if (this.#call.isOver) this.#view.wrong('G-7C', `the bot was asked about ${name} after the end`);
    const due = this.#inputs.find(({ fate }) => fate === 'none');
    if (due !== rpc) this.#view.wrong('005', `the bot was asked about ${name} before RPC${String(due?.id)}`);
    const expected = this.#isStarted ? rpc.input : 'session_start';
    if (!event.type.startsWith(expected)) this.#view.wrong('005', `the bot got ${event.type} for ${name} instead of ${expected}`);
    // G-28: what came before another start is forgotten, also where both came at the same moment.
    if (rpc.input === 'session_start') this.#inputs = this.#inputs.slice(this.#inputs.indexOf(rpc));
    else if (this.#isStarted) this.#compareState(name, state);
    if (event.heard !== undefined && !this.#isHeardBefore(rpc, event.heard))
      this.#view.wrong('G-52', `${name} came after ${JSON.stringify(rpc.heard)}, the bot was told ${JSON.stringify(event.heard)}`);
    rpc.fate = 'asked';
    this.#answering();
    // G-28: the snapshot of a conversation that begins anew counts its turns anew.
    if (rpc.input === 'session_start') this.#answer.turns = 0;
  }

  /** 005: an apology takes the place of an answer that did not come in time, also when only the recognizer was slow. */
  timedOut(rpc: Rpc | undefined): void {
    if (rpc?.fate === 'none') this.#answering();
    if (rpc !== undefined) rpc.fate = 'failed';
  }

  /** 005: speech without words did not cut the prompts after all, and is no input. */
  resumed(rpc: Rpc | undefined): void {
    if (rpc?.mayResume === true && rpc.fate === 'none') {
      rpc.fate = 'resumed';
      this.#outputs.resumed(rpc);
    } else this.#view.wrong('G-52', `RPC${String(rpc?.id)} resumed prompts that it had not cut`);
  }

  /** The bot is told of something it cannot answer; the end of its session is the last it hears (G-75). */
  told({ type, by, heard }: { readonly type: string; readonly by?: string; readonly heard?: HeardPart }): void {
    if (this.#isDone) this.#view.wrong('G-75', `the bot was told of ${type} after the end of its session`);
    if (type === 'session_end') this.#isDone = by !== 'restarted' || this.#call.isEnded;
    // Who cuts whom while a call is transferred is nobody's business.
    if (type !== 'barge_in' || heard === undefined || this.#view.mayHandOver()) return;
    const isLike = (each: BargeIn): boolean =>
      this.#outputs.isHeard(heard, each.heard) || (each.wasUnspoken && this.#outputs.isHeard(heard, UNHEARD));
    const isTrue = this.#bargeIns.told((each) => each.by === by && isLike(each));
    if (!isTrue) this.#view.wrong('G-52', `a barge-in by ${String(by)} after ${JSON.stringify(heard)} never happened`);
  }

  /** All is quiet: nothing is left that should have been asked. */
  quiet(): void {
    if (this.#call.isOver || this.#view.isEnding() || this.#view.isLeaving()) return;
    for (const rpc of this.#inputs)
      if (rpc.fate === 'none') this.#view.wrong('005', `the input of RPC${String(rpc.id)} never reached the bot`);
  }

  /** The last answer that was kept was never heard: the RPC died, or the caller acted over it before its first word. */
  get isUnspoken(): boolean {
    const { begun, turns, wasUnspoken } = this.#answer;
    if (this.#outputs.player.begun > begun) return false;
    return wasUnspoken || (this.#call.snapshot?.turns ?? 0) > turns;
  }

  /**
   * A filler is heard in the place of the reply before, but not of the one that is being made. It may begin before the bot is
   * asked, while a recognizer works: what the input comes after was known when the engine turned to it.
   */
  fillerBegan(rpc: Rpc): void {
    if (this.isUnspoken) rpc.heard = UNHEARD;
    this.#answer = { ...this.#answer, turns: this.#call.snapshot?.turns ?? 0, wasUnspoken: false };
  }

  /** A reply that never came was not heard, also by an input that was there before that was known. */
  #isHeardBefore({ heard, wasUnspoken }: Rpc, told: HeardPart): boolean {
    if (this.isUnspoken) return this.#outputs.isHeard(told, UNHEARD);
    return this.#outputs.isHeard(told, heard) || (wasUnspoken && this.#outputs.isHeard(told, UNHEARD));
  }

  #answering(): void {
    this.#answer = { begun: this.#outputs.player.begun, turns: this.#call.snapshot?.turns ?? 0, wasUnspoken: this.isUnspoken };
  }

  get #isStarted(): boolean {
    return this.#call.snapshot?.started === true;
  }

  /** G-15: the bot gets the state in which is everything it has answered, or made a checkpoint of. */
  #compareState(name: string, state: Kept): void {
    const lost = this.#inputs.find(
      ({ id, fate, hasKept, isCut, finals }) => (hasKept || (fate === 'answered' && !isCut && finals > 0)) && !state.asked.includes(id),
    );
    if (lost !== undefined) this.#view.wrong('G-15', `the state for ${name} does not know the answer to RPC${String(lost.id)}`);
  }
}
