// The inputs of a session: which turn's audio counts, which replies are cut, and which complete inputs go to the bot.
// On the audio path: no promises.
import type { AudioInput } from '../../dialog/input.ts';
import type { TurnEnd } from '../../dialog/ending.ts';
import type { BotRunner } from '../answer/bot-runner.ts';
import type { Conversation } from '../conversation.ts';
import type { EngineParts } from '../parts.ts';
import type { SessionTimes } from '../session-times.ts';
import type { CallerAudio } from './caller-audio.ts';
import { CallerWords } from './caller-words.ts';
import type { BroughtInput, TurnFact } from './turn-facts.ts';
import type { Turn, TurnListener } from './turn.ts';

export interface InputsOptions {
  readonly parts: EngineParts;
  readonly conversation: Conversation;
  readonly callerAudio: CallerAudio;
  readonly times: SessionTimes;
  readonly runner: BotRunner;
}

/** Owned by a session. */
export class Inputs implements TurnListener {
  readonly #parts: EngineParts;
  readonly #conversation: Conversation;
  readonly #callerAudio: CallerAudio;
  readonly #times: SessionTimes;
  readonly #runner: BotRunner;
  /** Undefined: nobody recognizes words. */
  readonly #words: CallerWords | undefined;
  /** Whether the caller has pressed a key; the digits come together on another turn (G-54). */
  #isTyping = false;

  constructor({ parts, conversation, callerAudio, times, runner }: InputsOptions) {
    this.#parts = parts;
    this.#conversation = conversation;
    this.#callerAudio = callerAudio;
    this.#times = times;
    this.#runner = runner;
    const { recognizer } = parts;
    if (recognizer !== undefined && conversation.bot.recognition !== 'none')
      this.#words = new CallerWords({ parts, conversation, callerAudio, recognizer, isBotIdle: () => runner.size === 0 });
  }

  /** Takes audio of an utterance while it is spoken, G.711 µ-law. */
  spoken(mulaw: Uint8Array): void {
    this.#words?.push(mulaw);
  }

  /** The call has ended or moved. */
  close(): void {
    this.#words?.close();
  }

  touched(): void {
    this.#times.lastInputMs = this.#parts.clock.monotonicMs();
  }

  listen(turn: Turn, input: AudioInput): void {
    const { isOver, leaving, open, playout } = this.#conversation;
    if (isOver) {
      this.#settle(turn);
      return;
    }
    const nowMs = this.#times.lastInputMs;
    const isPlaying = playout.isPlaying(nowMs);
    const isBarred = open.isBarred(nowMs, isPlaying);
    // A cough must not cut a reply in work, as little as a reply that plays, except while the server ends the call.
    const isOverPrompt = isPlaying || (leaving === undefined && open.isReplying);
    this.#callerAudio.note(input);
    // G-51: speech during an uninterruptible prompt is no input.
    if (!isBarred) this.#callerAudio.hear(turn, input.audio, isOverPrompt);
  }

  happened(turn: Turn, fact: TurnFact): void {
    switch (fact.kind) {
      case 'speech_started':
        this.#cutShort(turn, 'speech', turn);
        this.#words?.begin(turn);
        this.#parts.observer.speechStarted?.(this.#conversation.call, turn.id);
        return;
      case 'end_suspected':
        if (fact.isSuspected) this.#words?.pause();
        else this.#words?.resume();
        return;
      case 'key_started':
        this.#cutShort(turn, 'keys', fact.isReplyDropped ? undefined : turn);
        return;
      case 'input_complete':
        this.#complete(turn, fact.input);
        return;
      case 'speech_cut':
        this.#callerAudio.cut(turn);
        // The audio listener now belongs to a newer turn, so no end of this speech will come.
        if (turn.state === 'hearing') turn.finish('nothing_said');
        return;
      case 'input_refused':
        this.#parts.log.warn(turn.logIds, 'a second input on one stream was refused');
        return;
      case 'hung_up':
        this.#hungUp(turn);
        return;
      case 'closed':
        this.#closed(turn, fact.end);
    }
  }

  #complete(turn: Turn, brought: BroughtInput): void {
    const [parts, conversation] = [this.#parts, this.#conversation];
    const input = brought.kind === 'speech' ? { ...brought, utterance: this.#callerAudio.takeUtterance() } : brought;
    // G-64: a one-key menu sends its digit without START_OF_DTMF.
    if (input.kind === 'dtmf') this.#cutShort(turn, 'keys', turn);
    this.#isTyping = false;
    conversation.hasBegun = true;
    if (input.kind === 'speech') parts.observer.speechEnded?.(conversation.call, turn.id, this.#callerAudio.quietMs);
    // During and after the farewell there is no other reply (G-7C).
    if (conversation.isOver && (conversation.isEnded || conversation.isSayingFarewell)) {
      if (conversation.hasMoved) turn.giveBack();
      else turn.finish('superseded');
      return;
    }
    const cut = conversation.open.takeCut(turn);
    const ahead = input.kind === 'speech' ? this.#words?.take(input.utterance) : undefined;
    const completeAtMs = parts.clock.monotonicMs();
    const heard = conversation.playout.heardWhenComplete(completeAtMs);
    this.#runner.answer(turn, { act: input, completeAtMs, heard, cut, ...ahead });
  }

  /** @param spared - the turn that goes on; undefined: its reply is cut as well. */
  #cutShort(turn: Turn, by: 'speech' | 'keys', spared: Turn | undefined): void {
    if (by === 'keys') this.#isTyping = true;
    const { call, open, playout } = this.#conversation;
    const nowMs = this.#parts.clock.monotonicMs();
    if (!open.cutBy(by, turn, spared, nowMs)) return;
    const heard = playout.heard(nowMs);
    this.#parts.observer.bargeIn?.(call, turn.id, by, heard.ms);
    this.#runner.notify({ type: 'barge_in', by, heard }, turn);
  }

  /** The stream of the farewell broke: sends the terminal event on the next turn, whatever its input. */
  #settle(turn: Turn): void {
    const { isEnded, isSayingFarewell } = this.#conversation;
    if (!isEnded && !isSayingFarewell && !turn.takeOver()) this.#runner.settle(turn);
  }

  #hungUp(turn: Turn): void {
    const { open, mode } = this.#conversation;
    this.#conversation.ends('caller');
    // The platform still waits for these streams to complete, which they do without a reply.
    for (const other of open.list()) if (other !== turn) other.finish('hang_up', 'hang_up');
    turn.write({ kind: 'final', mode, prompts: [], next: { kind: 'gone' } });
    turn.finish('hang_up', 'hang_up');
  }

  #closed(turn: Turn, end: TurnEnd): void {
    const { call, open, playout, isEnded, asked } = this.#conversation;
    const isLast = open.delete(turn);
    // Otherwise the next turn could take the recognition that belongs to this one.
    if (this.#callerAudio.leave(turn)) this.#words?.drop();
    if (isLast) {
      const nowMs = this.#parts.clock.monotonicMs();
      if (isEnded) this.#callerAudio.close();
      else if (end === 'hang_up') this.#times.cancelled(nowMs);
      else this.#times.closed(nowMs, playout.remainingMs(nowMs), asked, this.#isTyping);
    }
    this.#parts.observer.turnEnded?.(call, turn.id, end);
    this.#runner.notify({ type: 'turn_ended', reason: end }, turn);
  }
}
