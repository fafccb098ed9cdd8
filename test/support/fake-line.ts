// A line without a wire: a test answers each turn by hand, on a clock that it moves, and sees what the platform sent.
import type { Answer, AnswerPrompt, InputConfig, ServerEventKind } from '../../src/fake-platform/caller/answer.ts';
import { holdCall, type CallResult, type HeldCallOptions } from '../../src/fake-platform/caller/caller.ts';
import type { Loss } from '../../src/fake-platform/lines/failure.ts';
import type { FindingCode } from '../../src/fake-platform/caller/finding.ts';
import { keysOf } from '../../src/fake-platform/caller/key.ts';
import type { Line, LineTurn, PlatformInput, TurnListener } from '../../src/fake-platform/lines/line.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { mulawWav } from '../../src/speech/wav.ts';
import { tone } from './call-lab.ts';
import { FakeClock } from './fake-clock.ts';

/** How long the person on the phone takes to notice that it is their turn, ms. */
export const REACTION_MS = 200;

/** One turn in the hands of a test. */
export class FakeTurn implements LineTurn {
  readonly sent: PlatformInput[] = [];
  isHalfClosed = false;
  isCancelled = false;
  isReading = true;
  readonly #listener: TurnListener;

  constructor(listener: TurnListener) {
    this.#listener = listener;
  }

  send(input: PlatformInput): void {
    if (this.isHalfClosed) throw new Error(`${input.kind} was sent after the half-close`);
    this.sent.push(input);
  }

  halfClose(): void {
    this.isHalfClosed = true;
  }

  cancel(): void {
    this.isCancelled = true;
  }

  pauseReading(): void {
    this.isReading = false;
  }

  resumeReading(): void {
    this.isReading = true;
  }

  /** What was sent, as kinds: frames of audio as `silence` or `speech`, repeats left out. */
  get kinds(): readonly string[] {
    const kinds = this.sent.map((input) => (input.kind === 'audio' ? audioKind(input.audio) : input.kind));
    return kinds.filter((kind, index) => kind !== kinds[index - 1]);
  }

  answer(answer: Partial<Answer>): void {
    this.#listener.answered(answerOf(answer));
  }

  complete(promptTexts: readonly string[] = []): void {
    this.#listener.ended({ kind: 'completed', promptTexts });
  }

  break(code: FindingCode, loss?: Loss): void {
    const failure = { code, message: 'broken by the test', ...(loss === undefined ? {} : { loss }) };
    this.#listener.ended({ kind: 'broken', failure });
  }
}

/** A call over a fake line. */
export class FakeCall implements Line {
  readonly clock: FakeClock;
  readonly turns: FakeTurn[] = [];
  result: CallResult | undefined;
  isBroken = false;
  readonly over: Promise<CallResult>;

  constructor(options: Omit<HeldCallOptions, 'clock'> = {}, clock = new FakeClock()) {
    this.clock = clock;
    this.over = holdCall(this, 'the fake line', { ...options, clock: this.clock });
    this.over.then(
      (result) => {
        this.result = result;
      },
      // Whoever waits for it sees why.
      () => undefined,
    );
  }

  open(listener: TurnListener): LineTurn {
    const turn = new FakeTurn(listener);
    this.turns.push(turn);
    return turn;
  }

  close(): void {
    throw new Error('a call does not close its line');
  }

  break(): void {
    this.isBroken = true;
  }

  /** A turn by its number, counted from 1. */
  turn(number: number): FakeTurn {
    const turn = this.turns[number - 1];
    if (turn === undefined) throw new Error(`only ${String(this.turns.length)} turns were opened`);
    return turn;
  }
}

/** A whole answer; what is left out says nothing. A FINAL asks for voice and keys, as it must (G-80). */
export function answerOf(answer: Partial<Answer>): Answer {
  const type = answer.type ?? 'final';
  const isBare = type !== 'final' || answer.event !== undefined;
  return {
    type,
    prompts: [],
    event: undefined,
    mode: isBare ? undefined : 'voice_dtmf',
    config: isBare ? undefined : config(),
    sensitive: false,
    ...answer,
  };
}

function audioKind(audio: Uint8Array): string {
  if (audio.length < 15) return 'probe';
  return audio.every((code) => code === 0xff) ? 'silence' : 'speech';
}

/** Rules for the next input: four keys, 3 s between them, silence never reported, unless told otherwise. */
export function config(more: Partial<InputConfig> = {}): InputConfig {
  return { interDigitMs: 3000, terminator: undefined, digits: 4, noInputMs: 0, ...more };
}

/** A prompt as servers in WAV mode send it. */
export function prompt(ms: number, bargeIn = false): AnswerPrompt {
  return { text: '', uri: '', audio: mulawWav(tone(ms)), bargeIn };
}

/** A piece of a prompt as servers in CHUNK mode send it. */
export function piece(ms: number, bargeIn = false): AnswerPrompt {
  return { text: '', uri: '', audio: tone(ms), bargeIn };
}

/** The part of an answer that is an event. */
export function event(kind: ServerEventKind): Partial<Answer> {
  return { event: { kind, name: '', metadata: {} } };
}

/** The caller speaks: a tone. */
export function say(ms: number, interruptMs?: number): Step {
  return { kind: 'say', label: 'tone', mulaw: tone(ms), ...(interruptMs === undefined ? {} : { interruptMs }) };
}

/** The caller presses keys. */
export function press(keys: string, interruptMs?: number): Step {
  return { kind: 'press', keys: keysOf(keys) ?? [], ...(interruptMs === undefined ? {} : { interruptMs }) };
}

/** A call whose welcome is answered with one prompt of 1000 ms and completed. */
export function welcomed(options: Omit<HeldCallOptions, 'clock'>, answer: Partial<Answer> = {}, bargeIn = false): FakeCall {
  const call = new FakeCall(options);
  call.turn(1).answer({ prompts: [prompt(1000, bargeIn)], ...answer });
  call.turn(1).complete();
  return call;
}

/** Lets the caller hear what there is and hang up. @throws Error when a timer is left. */
export async function finished(call: FakeCall): Promise<CallResult> {
  for (let step = 0; call.result === undefined && step < 100; step += 1) {
    const last = call.turns.at(-1);
    if (last?.kinds[0] === 'session_end') last.complete();
    await call.clock.advanceAsync(100);
  }
  const { pendingTimers } = call.clock;
  if (pendingTimers > 0) throw new Error(`the call has left ${String(pendingTimers)} timers behind`);
  return call.over;
}

/** The frames of audio sent on a turn, without the probes. */
export function audioFrames(turn: FakeTurn): readonly Uint8Array[] {
  return turn.sent.flatMap((input) => (input.kind === 'audio' && input.audio.length > 3 ? [input.audio] : []));
}

/** The findings of a call that is over, as `G-42 chunk_size`. */
export function findingNames(call: FakeCall): readonly string[] {
  return call.result?.findings.map(({ code, rule }) => (rule === undefined ? code : `${rule} ${code}`)) ?? [];
}
