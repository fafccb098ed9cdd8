// The person on the phone: works through the script step by step, and hangs up after the reply to the last step.
// Knows whose turn it is and what is heard; knows RPCs only by their numbers.
import type { CancelTimer } from '../../base/clock.ts';
import { FRAME_MS } from '../../speech/audio-format.ts';
import type { CallClock } from './call-clock.ts';
import type { Key } from './key.ts';
import type { Playing } from './playback.ts';
import { KEY_INTERVAL_MS, type Improvise, type Step, type StepMark } from './script.ts';
import type { Timeline } from './timeline.ts';
import type { TurnGrammar } from './turn-grammar.ts';

/** How long people take to notice that it is their turn, ms; meanwhile the server gets silence (G-35). */
const REACTION_MS = 200;

export interface PersonOptions {
  readonly script: readonly Step[];
  /** Chooses the steps after those of the script; undefined: the caller hangs up. */
  readonly improvise: Improvise | undefined;
  readonly clock: CallClock;
  readonly timeline: Timeline;
  readonly grammar: TurnGrammar;
  /** Longest wait for a sign that the server has heard the end of speech, ms. */
  readonly answerLimitMs: number;
}

/** A mark while its step is under way. */
type OpenMark = Omit<StepMark, 'isTaken'> & { isTaken: boolean };

/** The caller of one call. `stop` must be called at the end. */
export class Person {
  readonly #options: PersonOptions;
  readonly #script: Step[];
  readonly #marks: OpenMark[] = [];
  #next = 0;
  #isThinking = false;
  /** Whether a step is under way. */
  #isBusy = false;
  /** A reply on this RPC or a later one answers the last step; undefined when no reply is due. */
  #dueFrom: number | undefined = 1;
  /** Why the moment of the next step's `interruptWord` is unknown; undefined when it is known or not needed. */
  #missedWord: StepMark['missedWord'];
  #cancelTimer: CancelTimer = () => undefined;
  #cancelPatience: CancelTimer = () => undefined;

  constructor(options: PersonOptions) {
    this.#options = options;
    this.#script = [...options.script];
  }

  /** The steps that began, in order. */
  get marks(): readonly StepMark[] {
    return this.#marks;
  }

  /** A reply on this RPC began. */
  replied(turn: number): void {
    if (this.#dueFrom === undefined || turn < this.#dueFrom) return;
    this.#dueFrom = undefined;
    this.#cancelPatience();
  }

  /** Something changed: begins the next step when its time has come. */
  goOn(): void {
    if (this.#isBusy || this.#dueFrom !== undefined) return;
    const { improvise, clock, grammar } = this.#options;
    const number = this.#next;
    const step = this.#script[number];
    const { playing } = grammar;
    this.#cancelTimer();
    if (step === undefined && improvise !== undefined) {
      this.#think(improvise, playing);
      return;
    }
    const interruptMs = step === undefined || playing === undefined ? undefined : this.#interruption(step, playing);
    if (step !== undefined && interruptMs !== undefined) {
      const leftMs = interruptMs - clock.nowMs();
      if (leftMs <= 0) {
        this.#begin(step, number);
      } else {
        this.#cancelTimer = clock.after(leftMs, () => this.goOn());
      }
    } else if (grammar.isCallersTurn) {
      this.#cancelTimer = clock.after(REACTION_MS, () => this.#begin(step ?? { kind: 'hang_up' }, number));
    }
  }

  /** Asks for the next step once the server has sent its whole reply, which may still play. */
  #think(improvise: Improvise, playing: Playing | undefined): void {
    const { book, isCallersTurn } = this.#options.grammar;
    const isWhole = playing === undefined ? isCallersTurn : book.all[playing.turn - 1]?.phase === 'over';
    if (this.#isThinking || !isWhole) return;
    this.#isThinking = true;
    void improvise({ replies: book.replies, steps: this.#marks, mayInterrupt: playing?.bargeIn === true }).then((step) => {
      this.#isThinking = false;
      this.#script.push(step);
      this.goOn();
    });
  }

  /** When the step interrupts the prompt, ms since the call began; undefined when the step waits for the caller's turn. */
  #interruption({ interruptMs, interruptWord }: Step, { turn: id, turnStartMs }: Playing): number | undefined {
    if (interruptMs !== undefined) return turnStartMs + interruptMs;
    const turn = this.#options.grammar.book.all[id - 1];
    if (interruptWord === undefined || turn === undefined) return undefined;
    const { texts, audioMs } = turn;
    const moment = wordMoment({ texts, audioMs, isWhole: turn.phase === 'over' }, interruptWord);
    this.#missedWord = typeof moment === 'number' ? undefined : moment;
    return typeof moment === 'number' ? turnStartMs + moment : undefined;
  }

  /** Stops in the middle of any step. */
  stop(): void {
    this.#isBusy = true;
    this.#cancelTimer();
    this.#cancelPatience();
  }

  /** @param number - the index of the step in the script. Does nothing when another timer has begun that step already. */
  #begin(step: Step, number: number): void {
    const { grammar, clock } = this.#options;
    const { book, inputTurn, playing } = grammar;
    if (this.#isBusy || number !== this.#next) return;
    // The server ended the call when the caller was about to act: only the farewell is left (G-76).
    if (grammar.terminal !== undefined) return;
    if (this.#next < this.#script.length) {
      const fromTurn = step.kind === 'press' || step.kind === 'send_event' ? book.nextId : inputTurn;
      const missed = this.#missedWord === undefined ? {} : { missedWord: this.#missedWord };
      this.#marks.push({ atMs: Math.round(clock.nowMs()), fromTurn, isInterruption: playing !== undefined, isTaken: true, ...missed });
    }
    this.#missedWord = undefined;
    this.#next += 1;
    this.#isBusy = true;
    switch (step.kind) {
      case 'say':
        this.#say(step.mulaw, step.label);
        break;
      case 'press':
        this.#press(step.keys, book.nextId);
        break;
      case 'wait':
        this.#wait(step);
        break;
      case 'stay_silent':
        this.#options.timeline.add('caller', 'stays_silent');
        this.#dueFrom = inputTurn;
        this.#done();
        break;
      case 'send_event':
        this.#dueFrom = book.nextId;
        grammar.sendEvent(step.name, step.parameters);
        this.#done();
        break;
      case 'hang_up':
        this.#options.timeline.add('caller', 'hangs_up');
        grammar.hangUp();
        break;
    }
  }

  #wait({ waitMs, over }: Extract<Step, { kind: 'wait' }>): void {
    const { clock, timeline } = this.#options;
    const end = (): void => {
      this.#cancelTimer();
      this.#done();
    };
    timeline.add('caller', 'waits', { detail: `${String(waitMs)} ms` });
    const cancel = clock.after(over?.aborted === true ? 0 : waitMs, end);
    over?.addEventListener('abort', end);
    this.#cancelTimer = () => {
      cancel();
      over?.removeEventListener('abort', end);
    };
  }

  #say(mulaw: Uint8Array, label: string): void {
    const { timeline, grammar } = this.#options;
    const { listening, inputTurn } = grammar;
    const before = listening.speechFrames;
    timeline.add('caller', 'speaks', { detail: label });
    listening.microphone.speak(mulaw, () => {
      timeline.add('caller', 'falls_silent');
      const { sent, dropped } = listening.speechFrames;
      if (dropped > before.dropped) {
        timeline.add('platform', 'drops_speech', { detail: `${String((dropped - before.dropped) * FRAME_MS)} ms` });
      }
      // Speech that was dropped as a whole gets no answer.
      if (sent === before.sent) {
        this.#dueFrom = undefined;
        this.#noteDropped();
      }
      this.#awaitReply();
      this.#done();
    });
    this.#dueFrom = inputTurn;
  }

  #awaitReply(): void {
    const { clock, answerLimitMs, grammar } = this.#options;
    if (this.#dueFrom === undefined) return;
    this.#cancelPatience = clock.after(answerLimitMs, () => {
      if (!grammar.missReply()) this.#awaitReply();
    });
  }

  #press(keys: readonly Key[], firstTurn: number): void {
    const [key, ...rest] = keys;
    if (key === undefined) {
      this.#done();
      return;
    }
    // The digits are sent on an RPC that is not open yet, whichever RPC carries START_OF_DTMF.
    if (this.#options.grammar.press(key)) this.#dueFrom = firstTurn;
    else this.#noteDropped();
    if (rest.length === 0) {
      this.#done();
      return;
    }
    this.#cancelTimer = this.#options.clock.after(KEY_INTERVAL_MS, () => this.#press(rest, firstTurn));
  }

  #noteDropped(): void {
    const mark = this.#marks.at(-1);
    if (mark !== undefined) mark.isTaken = false;
  }

  #done(): void {
    this.#isBusy = false;
    this.goOn();
  }
}

/** The part of a reply that is known so far. */
interface SpokenReply {
  readonly texts: readonly string[];
  /** Length of all its audio, ms. */
  readonly audioMs: number;
  /** Whether nothing more will come. */
  readonly isWhole: boolean;
}

/**
 * Estimates when a word begins: as far into the sound as its first letter is into the text. Sound without text, such as a chime,
 * and long pauses make the estimate worse.
 *
 * @param word - one word or several; upper and lower case are the same.
 * @returns ms since the reply began; `unknown` while the reply is incomplete, `never` when its text does not contain the word.
 */
export function wordMoment({ texts, audioMs, isWhole }: SpokenReply, word: string): number | 'unknown' | 'never' {
  if (!isWhole) return 'unknown';
  const text = texts.join(' ');
  const at = text.toLowerCase().indexOf(word.toLowerCase());
  return at === -1 ? 'never' : (at / text.length) * audioMs;
}
