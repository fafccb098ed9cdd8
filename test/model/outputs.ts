// What the caller of one call may be told, and when: the FINALs, the prompts in their order, nothing after a cut but last
// words, one terminal event. One of the three parts of the reference.
import type { FinalNext, Output, SpokenPrompt } from '../../src/dialog/output.ts';
import { TEST_SETTINGS } from '../support/engine.ts';
import { Player } from './player.ts';
import type { Reference } from './reference.ts';
import type { HeardPart, Rpc } from './rpc.ts';
import type { View } from './view.ts';

const { maxFarewellMs } = TEST_SETTINGS;
const { apology, transfer: transferPrompt, filler } = TEST_SETTINGS.lines;

/** Longest wait for a sound; shorter than the engine's, so that what waits here waits there. */
const SOUND_LIMIT_MS = 5000;

/** What one call is to deliver, and has delivered. */
export class Outputs {
  player = new Player();
  /** Terminal events of this session: at most one (G-77). */
  terminals = 0;
  readonly #view: View;
  readonly #call: Reference;
  #mode: string | undefined;
  #lastSoundMs = 0;
  /** Prompts that may not be cut and have no sound yet, with the moment at which they were asked for. */
  readonly #awaited = new Map<string, number>();
  /** Prompts whose sound came too late. */
  readonly #late = new Set<string>();

  constructor(view: View, call: Reference) {
    this.#view = view;
    this.#call = call;
  }

  /** A session begins. */
  begin(): void {
    [this.player, this.terminals, this.#mode] = [new Player(), 0, undefined];
  }

  wrote(rpc: Rpc, output: Output): void {
    if ('mode' in output && (this.#mode ??= output.mode) !== output.mode) this.#view.wrong('G-40', `the mode changed to ${output.mode}`);
    if (output.kind === 'prompt') this.#streamed(rpc, output.prompt);
    if (output.kind === 'final') this.#final(rpc, output);
  }

  awaitsSound(text: string): void {
    this.#awaited.set(text, this.#view.nowMs());
  }

  hasSound(text: string): void {
    if (this.#isLate(text)) this.#late.add(text);
    this.#awaited.delete(text);
  }

  /** Its sound, or a piece of it, was late. */
  wasGivenUp(text: string): void {
    this.#late.add(text);
    this.#awaited.delete(text);
  }

  /** G-37: a prompt that may not be cut is heard, or is about to be because its sound is being made. */
  isProtected(): boolean {
    const nowMs = this.#view.nowMs();
    if (this.player.isProtected(nowMs)) return true;
    // A call that we leave hears our goodbye instead of what was being made; whether that holds the floor, the view knows.
    if (this.#view.isLeaving()) return false;
    // 005: once a sound was late on an RPC, its other texts are not waited for.
    const isWanted = ({ said, state, isCut, fate }: Rpc, text: string): boolean =>
      state === 'owing' &&
      !isCut &&
      fate !== 'failed' &&
      said.includes(text) &&
      !said.some((other) => this.#late.has(other) || this.#isLate(other));
    return [...this.#awaited].some(
      ([text, sinceMs]) => nowMs - sinceMs < SOUND_LIMIT_MS && this.#call.rpcs.some((rpc) => isWanted(rpc, text)),
    );
  }

  /** The prompts that this RPC has cut go on. */
  resumed(rpc: Rpc): void {
    if (!rpc.isCut) this.player.resume(replyOf(rpc), this.#view.nowMs());
  }

  /** What the bot is told of the caller's ear must be what the caller had heard, as far as the reference can know it. */
  isHeard(told: HeardPart, known: HeardPart): boolean {
    if (!this.#view.isHeardExact) return true;
    const mayLackRest = known.mayLackRest === true || this.#hasLostRest;
    return told.ms === known.ms && (told.complete === known.complete || (mayLackRest && !told.complete));
  }

  /** What the caller has heard by now. */
  heard(): HeardPart {
    return { ...this.player.heard(this.#view.nowMs()), mayLackRest: this.#hasLostRest };
  }

  get #hasLostRest(): boolean {
    if (this.#view.isSpokenInPieces && this.player.isInOnePiece) return true;
    return this.#call.rpcs.some((rpc) => replyOf(rpc) === this.player.reply && rpc.isBroken && rpc.finals === 0);
  }

  #isLate(text: string): boolean {
    const sinceMs = this.#awaited.get(text);
    return sinceMs !== undefined && this.#view.nowMs() - sinceMs >= SOUND_LIMIT_MS;
  }

  #streamed(rpc: Rpc, prompt: SpokenPrompt): void {
    const nowMs = this.#view.nowMs();
    this.#lastSoundMs = nowMs;
    // Sound that is made while it is spoken comes in pieces, and the first one has the text.
    if (this.#view.isSpokenInPieces && prompt.text === undefined) {
      this.#mayBeSpoken(rpc, { ...prompt, text: rpc.spoken.at(-1) });
      this.player.extend(prompt.audio?.durationMs ?? 0, nowMs);
      return;
    }
    const isFiller = prompt.text === filler;
    this.player.begin(isFiller ? `${replyOf(rpc)}, filler` : replyOf(rpc), nowMs, isFiller);
    this.#speaks(rpc, prompt, rpc.said.indexOf(rpc.spoken.at(-1) ?? ''));
    if (isFiller) this.#call.inputs.fillerBegan(rpc);
    else rpc.isUnheardWelcome = false;
  }

  #final(rpc: Rpc, { next, prompts }: Output & { kind: 'final' }): void {
    const name = `RPC${String(rpc.id)}`;
    if (rpc.finals > 0) this.#view.wrong('G-14', `${name} got a second FINAL`);
    rpc.finals += 1;
    if (next.kind === 'gone') {
      if (!rpc.isHangUp) this.#view.wrong('G-75', `${name} is told that the caller is gone`);
      return;
    }
    if (next.kind === 'superseded') {
      rpc.isSuperseded = true;
      if (rpc.isLate) return;
      // 005: the farewell is, or was, said on another RPC.
      if (!this.#call.isOver && !this.#view.isEnding() && !this.#view.isLeaving()) this.#view.wrong('G-13', `${name} got no reply`);
      if (rpc.state !== 'owing') this.#view.wrong('G-61', `${name} owes nothing and got a FINAL`);
      return;
    }
    if (next.kind === 'listen') this.#goesOn(rpc, name);
    else this.#ends(name);
    if (!rpc.isCut || next.kind !== 'listen') this.player.begin(replyOf(rpc), this.#view.nowMs());
    // A text without sound has its place here, behind what was streamed (G-43), so each group has its own order.
    let last = -1;
    for (const prompt of prompts) {
      this.#speaks(rpc, prompt, last, next.kind !== 'listen');
      last = rpc.said.indexOf(prompt.text ?? '');
    }
    const isHandOver = next.kind !== 'listen' && !isOfScript(next);
    // Unless its words belonged to an RPC that was cancelled or completed meanwhile: they are not said again.
    if (
      isHandOver &&
      !this.#call.rpcs.some(
        (each) => each.spoken.includes(transferPrompt) || (each.state === 'done' && (each.finals === 0 || each.isSuperseded)),
      )
    )
      this.#view.wrong('005', `${name} was transferred without a prompt`);
    const isInTime = next.kind === 'listen' ? this.#call.snapshot?.failures === 0 : isOfScript(next);
    const isOwnReply = isInTime && rpc.fate === (next.kind === 'listen' ? 'answered' : 'farewell');
    const missing = rpc.said.find((text) => !rpc.spoken.includes(text));
    if (isOwnReply && !rpc.isCut && !this.#view.isLeaving() && missing !== undefined)
      this.#view.wrong('G-22', `${name} lost the prompt "${missing}"`);
  }

  #goesOn(rpc: Rpc, name: string): void {
    if (rpc.state !== 'owing') this.#view.wrong('G-61', `${name} owes nothing and got a FINAL`);
    if (this.#call.isOver || this.#view.isEnding()) this.#view.wrong('G-7C', `${name} got a reply after the end`);
    if (rpc.fate === 'farewell') this.#view.wrong('G-76', `${name} should have ended the call`);
    if ((this.#call.snapshot?.failures ?? 0) > 1) this.#view.wrong('005', `${name} got no transfer after the second failure in a row`);
  }

  #ends(name: string): void {
    this.terminals += 1;
    if (this.terminals > 1) this.#view.wrong('G-77', `${name} got a second terminal event`);
    const isBots = this.#call.rpcs.some(({ fate }) => fate === 'farewell') || (this.#call.snapshot?.failures ?? 0) > 1;
    if (!isBots && !this.#view.mayHandOver()) this.#view.wrong('G-77', `${name} ended the call for no reason`);
    if (this.#call.isHungUp) this.#view.wrong('G-74', `${name} got a terminal event after the caller had hung up`);
    // G-7A: the farewell is heard before the platform acts.
    const nowMs = this.#view.nowMs();
    if (this.player.isPlaying(nowMs) && nowMs - this.#lastSoundMs < maxFarewellMs && !this.#view.isLeaving())
      this.#view.wrong('G-7A', `${name} ended the call ${String(this.player.remainingMs(nowMs))} ms before its farewell was heard`);
  }

  #speaks(rpc: Rpc, prompt: SpokenPrompt, last: number, isLast = false): void {
    const { audio, text = '', bargeIn, skippedMs } = prompt;
    this.#mayBeSpoken(rpc, prompt, isLast);
    const name = `RPC${String(rpc.id)}`;
    if (rpc.fate === 'resumed') {
      // Prompts of earlier RPCs, from where they were cut.
    } else if (text === filler) {
      if (rpc.spoken.length > 0) this.#view.wrong('005', `${name} got a filler in the middle of its reply`);
    } else if (text === apology) {
      if (rpc.fate !== 'failed' && (this.#call.snapshot?.failures ?? 0) === 0)
        this.#view.wrong('005', `${name} got an apology for nothing`);
    } else if (text !== transferPrompt && rpc.fate !== 'none' && rpc.said.indexOf(text) <= last) {
      this.#view.wrong('G-22 G-57', `${name} got "${text}" out of its place`);
    }
    rpc.spoken.push(text);
    if (audio !== undefined) this.player.add({ durationMs: audio.durationMs, bargeIn, skippedMs }, this.#view.nowMs());
  }

  #mayBeSpoken(rpc: Rpc, { text = '', bargeIn }: SpokenPrompt, isLast = false): void {
    const name = `RPC${String(rpc.id)}`;
    const isFarewell = isLast || (rpc.fate === 'farewell' && !rpc.early.has(text)) || text === transferPrompt;
    if (rpc.state !== 'owing' && text !== transferPrompt) this.#view.wrong('G-57', `${name} owes nothing and got "${text}"`);
    if (rpc.isCut && !isFarewell) this.#view.wrong('G-52 G-53', `${name} got "${text}" after the caller acted over it`);
    if (isFarewell && bargeIn) this.#view.wrong('G-55', `"${text}" can be cut although it belongs to the end`);
    if (this.#call.isEnded) this.#view.wrong('G-7C', `${name} got "${text}" after the end`);
    if (this.#call.isHungUp) this.#view.wrong('G-74', `${name} got "${text}" after the caller had hung up`);
  }
}

function replyOf({ id }: Rpc): string {
  return `the reply of RPC${String(id)}`;
}

/** The bot's own end, and not a hand-over by the engine. */
function isOfScript(next: FinalNext): boolean {
  return 'metadata' in next && (next.metadata['reason'] === 'script' || next.metadata['outcome'] === 'script');
}
