// The playback clock: prompts queue and play one after the other in real time, and can be cut. Everything the
// caller hears is kept with its time on the call's axis. Knows samples and turns, no messages.
import type { CancelTimer } from '../../base/clock.ts';
import type { CallClock } from './call-clock.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';

export interface Sound {
  /** The RPC on which the sound came. */
  readonly turn: number;
  /** 8 kHz, 16 bit, mono. */
  readonly samples: Int16Array;
  readonly bargeIn: boolean;
  /** True for a sound of a PARTIAL that a later reply cancels (G-45). Default false. */
  readonly isCancellable?: boolean;
}

/** A sound with its place on the time axis: start and end in samples since the call began. */
interface Placed extends Sound {
  readonly startSample: number;
  endSample: number;
}

export interface Playing {
  readonly turn: number;
  readonly bargeIn: boolean;
  /** When the first sound of the same RPC began, ms since the call began. */
  readonly turnStartMs: number;
}

/** Reports what happens on the playback clock. */
export interface PlaybackListener {
  /** A sound began; `gapMs` is the silence since the last sound of the same RPC, 0 for the first one. */
  started(playing: Playing, gapMs: number): void;
  /** The last queued sound has played or was cut. */
  idle(): void;
}

/** Longest queue, ms. A server that sends more than this ahead is not answering a phone call. */
export const MAX_QUEUE_MS = 30 * 60_000;

const NO_SAMPLES = new Int16Array(0);
const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;

/** Plays the prompts of one call. `stop` must be called at the end. */
export class Playback {
  readonly #clock: CallClock;
  readonly #listener: PlaybackListener;
  readonly #keepsSound: boolean;
  /** Sounds that were heard, whole or in part. */
  readonly #heard: Placed[] = [];
  #queue: Sound[] = [];
  #current: Placed | undefined;
  #turnStart: { turn: number; sample: number } | undefined;
  #lastEnd: { turn: number; sample: number } | undefined;
  #cancelTimer: CancelTimer = () => undefined;
  #stopped = false;

  /** @param keepsSound - false makes `heard` silence: a load test has too many calls to keep their sound. */
  constructor(clock: CallClock, listener: PlaybackListener, keepsSound = true) {
    this.#keepsSound = keepsSound;
    this.#clock = clock;
    this.#listener = listener;
  }

  /** What is heard now; undefined while the line is silent. */
  get playing(): Playing | undefined {
    this.#advance();
    return this.#current === undefined ? undefined : this.#describe(this.#current);
  }

  /** Sound that has not been heard yet, ms. */
  get queuedMs(): number {
    this.#advance();
    const waiting = this.#queue.reduce((sum, sound) => sum + sound.samples.length, 0);
    return (waiting + (this.#current === undefined ? 0 : this.#current.endSample - this.#nowSample())) / SAMPLES_PER_MS;
  }

  /**
   * Queues a sound; it begins at once when nothing plays.
   *
   * @returns false when the queue is full (see {@link MAX_QUEUE_MS}); the sound is dropped then.
   */
  play(sound: Sound): boolean {
    if (this.#stopped || sound.samples.length === 0) return true;
    if (this.queuedMs + sound.samples.length / SAMPLES_PER_MS > MAX_QUEUE_MS) return false;
    this.#queue.push(sound);
    if (this.#current === undefined) this.#startNext(this.#nowSample());
    return true;
  }

  /**
   * Drops the unheard sound of all turns before `turn` (G-52). The listener is not notified.
   *
   * @returns the length of the dropped sound, ms; 0 when there was none.
   */
  cutBefore(turn: number): number {
    return this.#cut((sound) => sound.turn < turn);
  }

  /** Drops the unheard sound of a turn that starts again; no gap is counted before its next sound. As {@link cutBefore}. */
  cutAnew(turn: number): number {
    const droppedMs = this.#cut((sound) => sound.turn === turn);
    if (this.#turnStart?.turn === turn) this.#turnStart = undefined;
    if (this.#lastEnd?.turn === turn) this.#lastEnd = undefined;
    return droppedMs;
  }

  /** Drops the unheard sound of PARTIALs that a later reply cancels (G-45). As {@link cutBefore}. */
  cancelPartials(): number {
    return this.#cut(({ isCancellable }) => isCancellable === true);
  }

  #cut(isCut: (sound: Sound) => boolean): number {
    this.#advance();
    const now = this.#nowSample();
    let dropped = 0;
    this.#queue = this.#queue.filter((sound) => {
      if (!isCut(sound)) return true;
      dropped += sound.samples.length;
      return false;
    });
    if (this.#current !== undefined && isCut(this.#current)) {
      dropped += this.#current.endSample - now;
      this.#current.endSample = now;
      this.#endCurrent(this.#current);
      this.#startNext(now);
    }
    return dropped / SAMPLES_PER_MS;
  }

  /** Everything heard from the beginning of the call to `endMs`, 8 kHz; silence where nothing played. */
  heard(endMs: number): Int16Array {
    return this.#track(0, Math.max(0, Math.floor(endMs * SAMPLES_PER_MS)), this.#heard);
  }

  /** What was heard in the `ms` before `endMs`, 8 kHz; undefined when nothing played. `endMs` must be recent. */
  heardLately(endMs: number, ms: number): Int16Array | undefined {
    this.#advance();
    const end = Math.floor(endMs * SAMPLES_PER_MS);
    const start = end - ms * SAMPLES_PER_MS;
    const last = this.#heard.findLastIndex(({ endSample }) => endSample <= start);
    const lately = this.#heard.slice(last + 1).filter(({ startSample }) => startSample < end);
    return lately.length === 0 ? undefined : this.#track(start, end, lately);
  }

  /** What was heard from sample `from` to sample `to` of the call. */
  #track(from: number, to: number, sounds: readonly Placed[]): Int16Array {
    const track = new Int16Array(to - from);
    for (const { startSample, endSample, samples } of sounds) {
      const [start, end] = [Math.max(startSample, from), Math.min(endSample, to)];
      if (end > start) track.set(samples.subarray(start - startSample, end - startSample), start - from);
    }
    return track;
  }

  /** Stops the clock; what plays now is heard up to this moment. Nothing more is reported. */
  stop(): void {
    this.#advance();
    this.#stopped = true;
    this.#cancelTimer();
    this.#queue = [];
    if (this.#current !== undefined) this.#current.endSample = Math.min(this.#current.endSample, this.#nowSample());
    this.#current = undefined;
  }

  #nowSample(): number {
    return Math.floor(this.#clock.nowMs() * SAMPLES_PER_MS);
  }

  /** Advances the queue to the present, so that a late timer makes nothing play late. */
  #advance(): void {
    while (!this.#stopped && this.#current !== undefined && this.#nowSample() >= this.#current.endSample) this.#finishCurrent();
  }

  #finishCurrent(): void {
    const ended = this.#current;
    if (ended === undefined) return;
    this.#endCurrent(ended);
    if (this.#queue.length > 0) this.#startNext(ended.endSample);
    else this.#listener.idle();
  }

  #endCurrent(ended: Placed): void {
    this.#cancelTimer();
    this.#current = undefined;
    this.#lastEnd = { turn: ended.turn, sample: ended.endSample };
  }

  #startNext(startSample: number): void {
    const sound = this.#queue.shift();
    if (sound === undefined) return;
    const placed: Placed = { ...sound, startSample, endSample: startSample + sound.samples.length };
    this.#current = placed;
    this.#heard.push(this.#keepsSound ? placed : { ...placed, samples: NO_SAMPLES });
    const gapSamples = this.#lastEnd?.turn === sound.turn ? startSample - this.#lastEnd.sample : 0;
    if (this.#turnStart?.turn !== sound.turn) this.#turnStart = { turn: sound.turn, sample: startSample };
    this.#arm(placed);
    this.#listener.started(this.#describe(placed), gapSamples / SAMPLES_PER_MS);
  }

  #arm(placed: Placed): void {
    this.#cancelTimer = this.#clock.after(placed.endSample / SAMPLES_PER_MS - this.#clock.nowMs(), () => {
      this.#advance();
      // A timer may fire a little early: then wait for the rest.
      if (this.#current === placed) this.#arm(placed);
    });
  }

  #describe(placed: Placed): Playing {
    const startSample = this.#turnStart?.sample ?? placed.startSample;
    return { turn: placed.turn, bargeIn: placed.bargeIn, turnStartMs: startSample / SAMPLES_PER_MS };
  }
}
