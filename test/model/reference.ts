// The reference: what one call owes its caller, in the fewest words that are exact. It is told what the caller did and what
// the engine did about it, and says at once when the two do not fit. G-nn are rules of the contract, "005" is
// docs/decisions/005-turn-engine.md. What may be spoken when stands in outputs.ts, what the bot must hear of in inputs.ts.
import type { SessionEnd } from '../../src/dialog/ending.ts';
import type { Output } from '../../src/dialog/output.ts';
import type { Snapshot } from '../../src/session/snapshot/snapshot.ts';
import { TEST_SETTINGS } from '../support/engine.ts';
import { Inputs } from './inputs.ts';
import { Outputs } from './outputs.ts';
import type { Event, Sound } from './program.ts';
import { newRpc, type Complete, type Rpc } from './rpc.ts';
import { Silence } from './silence.ts';
import { END_FRAMES, FRAMES } from './sounds.ts';
import type { View } from './view.ts';

type Owed = 'START_OF_INPUT' | 'END_OF_INPUT' | 'completion';

/** One call, also when it begins again under the same name. */
export class Reference {
  readonly rpcs: Rpc[] = [];
  readonly outputs: Outputs;
  readonly inputs: Inputs;
  readonly silence: Silence;
  readonly #view: View;
  /** What the engine must do before the act is over. */
  readonly #owedNow = new Set<string>();
  /** What it may do instead of nothing. */
  readonly #allowedNow = new Set<string>();
  /** Completed without a FINAL although an input was complete. */
  readonly #unanswered: Rpc[] = [];
  #ear: Rpc | undefined;
  #quietFrames = 0;
  #over: SessionEnd | undefined;
  #hasHungUp = false;
  /** The RPC whose speech has cut prompts that were whole: they may go on. */
  #lastCut: Rpc | undefined;

  constructor(view: View) {
    this.#view = view;
    this.outputs = new Outputs(view, this);
    this.inputs = new Inputs(view, this, this.outputs);
    this.silence = new Silence(view);
  }

  get isHungUp(): boolean {
    return this.#hasHungUp;
  }

  /** The terminal event was sent or received. */
  get isEnded(): boolean {
    return this.#over !== undefined;
  }

  /** It is decided. */
  get isOver(): boolean {
    return this.#over !== undefined || this.snapshot?.ended === true;
  }

  /** What the engine would leave to another home. */
  get snapshot(): Snapshot | undefined {
    return this.#view.snapshot();
  }

  get open(): readonly Rpc[] {
    return this.rpcs.filter(({ state }) => state !== 'opening' && state !== 'done');
  }

  // What the platform does.

  opened(): Rpc {
    const rpc = newRpc(this.rpcs.length + 1);
    this.rpcs.push(rpc);
    return rpc;
  }

  /** The engine has taken the RPC: it listens (G-50). @param isOver - its session is over. */
  began(rpc: Rpc, number: number, isOver: boolean): void {
    rpc.number = number;
    rpc.isLate = isOver && !this.isEnded;
    rpc.state = rpc.isLate ? 'keys' : 'listening';
  }

  /** G-28: SESSION_START looks for a session of its own, also behind other messages of the RPC (G-33). */
  starts(rpc: Rpc): void {
    if (this.#ear === rpc) this.#ear = undefined;
    [rpc.state, rpc.isStart, rpc.isCut, rpc.voiced] = ['opening', true, false, 0];
  }

  sound(rpc: Rpc, sound: Sound): void {
    // G-51: what is said into a prompt that cannot be cut is not input; at the end nobody listens (G-7C).
    if ((rpc.state !== 'listening' && rpc.state !== 'hearing') || this.#isDeaf() || this.#isProtected()) return;
    // Over a reply, heard or still being made, it takes more than a word; what this sound itself ends is none yet.
    const isBusy = !this.#view.isLeaving() && this.open.some((other) => other !== rpc && isReplying(other));
    const isOverReply = isBusy || this.outputs.player.isPlaying(this.#view.nowMs());
    if (this.#ear !== rpc) {
      // 005: the newer stream has the ear until it is over; what the older one was hearing ends there.
      if (this.#ear !== undefined && rpc.number < this.#ear.number) return;
      if (this.#ear?.state === 'hearing') this.#speechEnds(this.#ear);
      this.#ear = rpc;
    }
    const { voiced, silent } = FRAMES[sound];
    const isSpeech = sound === 'speech' || sound === 'word';
    const isStart = isSpeech && (sound === 'speech' || !isOverReply);
    if (rpc.state === 'listening' && !isStart) return;
    if (rpc.state === 'listening') this.#speechStarts(rpc);
    if (isSpeech) rpc.voiced += voiced;
    this.#quietFrames = isSpeech ? silent : this.#quietFrames + silent + (this.#quietFrames === 0 ? 0 : voiced);
    if (this.#quietFrames >= END_FRAMES) this.#speechEnds(rpc);
  }

  event(rpc: Rpc, event: Event): void {
    // G-75: also for a conversation that another start has ended meanwhile.
    if (rpc.isLate && event === 'session_end') rpc.isHangUp = true;
    if (rpc.state === 'opening' || rpc.state === 'done' || rpc.isLate) return;
    if (event === 'session_end') this.#hangsUp(rpc);
    else if (rpc.state === 'owing') {
      // One input per RPC (G-10): a second one changes nothing, but a key stops what is being said (G-61).
      if (event === 'dtmf_start') this.#acts(undefined, 'keys');
    } else if (event !== 'dtmf_start') this.#completes(rpc, event);
    else if (rpc.state !== 'keys') {
      rpc.state = 'keys'; // G-60, G-61: nothing is owed, the digits come on an RPC of their own.
      this.#acts(rpc, 'keys');
    }
  }

  halfClose(rpc: Rpc): void {
    if (rpc.state === 'hearing' && this.#ear === rpc) this.#speechEnds(rpc);
    else if (rpc.state === 'listening' || rpc.state === 'hearing' || rpc.state === 'keys') this.#owes('completion', rpc);
  }

  /** Cancelled by the platform (G-16), or never taken. */
  broke(rpc: Rpc): void {
    rpc.isBroken = true;
    this.#isDone(rpc);
  }

  /** The act is over: whatever the engine had to do at once is done. */
  settled(): void {
    // G-74: when the caller has hung up, other RPCs just complete; the hang-up always gets its FINAL.
    for (const { id, isHangUp } of this.#unanswered.splice(0))
      if (isHangUp || !this.#hasHungUp) this.#wrong('G-13 G-63 G-71', `RPC${String(id)} completed without the FINAL it owed`);
    for (const missing of this.#owedNow) this.#wrong('G-13 G-36 G-38', `${missing} did not come at once`);
    this.#owedNow.clear();
    this.#allowedNow.clear();
  }

  // What the engine does.

  /** @param turns - that were answered at the home before. @param isContinued - the call has moved here. */
  sessionStarted(turns: number, isContinued = false): void {
    if (this.open.length > 0 && this.#over === undefined) this.#wrong('G-12', 'a second session began in the middle of the call');
    // They came for the session before, which was over by then: nothing is heard on them, and nothing owed.
    for (const late of this.open) if (late.state !== 'owing') late.state = 'keys';
    [this.#over, this.#hasHungUp, this.#ear, this.#lastCut] = [undefined, false, undefined, undefined];
    this.outputs.begin();
    this.inputs.begin(turns, isContinued);
    this.silence.begin();
  }

  sessionEnded(by: SessionEnd): void {
    if (this.#over !== undefined) this.#wrong('G-77', `the session ended twice, ${this.#over} and ${by}`);
    if ((by === 'caller') !== this.#hasHungUp) this.#wrong('G-74', `the session ended: ${by}`);
    this.#over = by;
    if (by === 'restarted') {
      this.#restarts();
      return;
    }
    // G-76, G-77: an end of ours is told to whoever is there and reads.
    const isReported = this.outputs.terminals > 0 || by === 'caller' || by === 'idle' || this.open.length === 0;
    if (!isReported && !this.open.some(({ isUnread }) => isUnread))
      this.#wrong('G-76 G-77', `the call ended (${by}) and nobody told the caller`);
  }

  wrote(rpc: Rpc, output: Output): void {
    if (rpc.state === 'done') this.#wrong(rpc.isBroken ? 'G-16' : 'G-14', `RPC${String(rpc.id)} got ${output.kind} after its end`);
    if (output.kind === 'input_started') this.#happened('START_OF_INPUT', rpc, 'G-36 G-37');
    else if (output.kind === 'input_ended') {
      this.#happened('END_OF_INPUT', rpc, 'G-38');
      rpc.mayOweNothing = false;
    }
    this.outputs.wrote(rpc, output);
    const isFiller = output.kind === 'prompt' && output.prompt.text === TEST_SETTINGS.lines.filler;
    if ((output.kind === 'prompt' || output.kind === 'final') && !rpc.isCut && !isFiller) this.silence.broken();
  }

  completed(rpc: Rpc): void {
    if (rpc.state === 'done') this.#wrong('G-13', `RPC${String(rpc.id)} completed twice`);
    const isOwed = rpc.isHangUp || (rpc.state === 'owing' && !rpc.mayOweNothing);
    if (isOwed && rpc.finals === 0 && this.#over !== 'restarted') this.#unanswered.push(rpc);
    this.#isDone(rpc);
  }

  failed(rpc: Rpc, code: string): void {
    const isLegal = (code === 'slow_reader' && rpc.isUnread) || (code === 'turn_timeout' && this.isOver);
    if (!isLegal) this.#wrong('G-13', `RPC${String(rpc.id)} failed: ${code}`);
    this.broke(rpc);
  }

  /** All is quiet and every RPC half-closed: nothing may be left over. */
  quiet(): void {
    for (const { id, state } of this.rpcs) if (state !== 'done') this.#wrong('G-13', `RPC${String(id)} never completed`);
    this.inputs.quiet();
  }

  // The grammar behind it.

  #speechStarts(rpc: Rpc): void {
    rpc.state = 'hearing';
    this.#acts(rpc, 'speech');
    this.#owes('START_OF_INPUT', rpc);
  }

  #speechEnds(rpc: Rpc): void {
    this.#owes('END_OF_INPUT', rpc);
    this.#completes(rpc, 'speech');
  }

  #completes(rpc: Rpc, input: Complete): void {
    rpc.state = 'owing';
    rpc.input = input;
    rpc.isUnheardWelcome = input === 'session_start';
    // G-64. The RPC that we hand over takes none, whichever that is.
    if (input === 'dtmf') this.#acts(rpc, 'keys', this.#view.isLeaving());
    rpc.mayResume = input === 'speech' && this.#lastCut === rpc;
    this.#lastCut = undefined;
    rpc.heard = this.outputs.heard();
    rpc.wasUnspoken = this.inputs.isUnspoken;
    this.inputs.owed(rpc);
    this.silence.owed(rpc);
  }

  /** G-52, G-53: speech or a key cuts what is spoken, unless it may not be cut (G-37) or is a welcome not begun (005). */
  #acts(rpc: Rpc | undefined, by: string, mayBeRefused = false): void {
    if (by === 'keys') this.#lastCut = undefined;
    if (this.#isProtected()) return;
    // G-61: keys take the place of what was being said on another RPC.
    const isInput = by === 'keys' && !mayBeRefused;
    if (isInput) for (const other of this.open) if (other !== rpc && other.state === 'hearing') other.state = 'keys';
    const nowMs = this.#view.nowMs();
    const cut = this.open.filter((other) => other !== rpc && other.state === 'owing' && !other.isUnheardWelcome && !other.isCut);
    for (const other of cut) other.isCut = true;
    const { player } = this.outputs;
    if (!player.isPlaying(nowMs) && cut.length === 0) return;
    this.#lastCut = by === 'speech' && cut.length === 0 ? rpc : undefined;
    const isBegun = player.isPlaying(nowMs) || cut.some(({ spoken }) => spoken.length > 0);
    const dropped = cut.length === 0 ? 'nothing' : isBegun ? 'rest' : 'all';
    const { mayLackRest = false } = this.outputs.heard();
    this.inputs.bargedIn({ by, heard: { ...player.cut(dropped, nowMs), mayLackRest }, wasUnspoken: this.inputs.isUnspoken });
  }

  /** G-74, G-75: nothing more is owed on the other RPCs, and they complete at once. */
  #hangsUp(rpc: Rpc): void {
    this.#hasHungUp = true;
    rpc.isHangUp = true;
    for (const each of this.open) this.#owes('completion', each);
  }

  /** G-28: only for a start, and what was open of the conversation completes. */
  #restarts(): void {
    if (!this.rpcs.some(({ isStart, state, isBroken }) => isStart && (state === 'opening' || isBroken)))
      this.#wrong('G-28', 'the session restarted and nobody had begun it anew');
    for (const each of this.open) this.#owes('completion', each);
  }

  #isProtected(): boolean {
    return this.outputs.isProtected() || this.#view.isFloorHeld();
  }

  #isDeaf(): boolean {
    return this.isEnded || this.#view.isEnding();
  }

  #isDone(rpc: Rpc): void {
    rpc.state = 'done';
    this.#owedNow.delete(`completion of RPC${String(rpc.id)}`);
    if (this.#ear === rpc) this.#ear = undefined;
  }

  #owes(what: Owed, rpc: Rpc): void {
    // 005: an RPC that we hand over takes no input any more; which one that is depends on when its answer began.
    const isAllowed = (this.#view.isLeaving() || this.#view.isEnding()) && !rpc.isHangUp;
    if (what === 'END_OF_INPUT') rpc.mayOweNothing = isAllowed;
    if (isAllowed) this.#allowedNow.add(`${what} of RPC${String(rpc.id)}`);
    else this.#owedNow.add(`${what} of RPC${String(rpc.id)}`);
  }

  #happened(what: Owed, rpc: Rpc, rule: string): void {
    const name = `${what} of RPC${String(rpc.id)}`;
    if (!this.#owedNow.delete(name) && !this.#allowedNow.delete(name)) this.#wrong(rule, `${what} on RPC${String(rpc.id)} was not due`);
  }

  #wrong(rule: string, what: string): void {
    this.#view.wrong(rule, what);
  }
}

/** An answer is being made or spoken on it, and is wanted. */
function isReplying({ state, isCut }: Rpc): boolean {
  return state === 'owing' && !isCut;
}
