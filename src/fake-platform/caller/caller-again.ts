// Repeats the caller of an old call: the same sound, keys and hang-up, each as long after the beginning of a reply as before, so that a
// faster or slower bot meets the same caller. Drives a phone, as a person would.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import type { CallResult } from './caller.ts';
import { keyOf, type Key } from './key.ts';
import type { Phone } from './phone.ts';

/** What the caller did from one reply to the next. Times are ms since the earlier reply began; in the first part, since the call began. */
interface Part {
  readonly mulaw: Uint8Array;
  readonly keys: readonly { readonly atMs: number; readonly key: Key }[];
  readonly hangUpMs?: number;
}

export type CallerScript = readonly Part[];

type OldCall = Pick<CallResult, 'said' | 'replies' | 'timeline' | 'durationMs'>;

/** @param call - an old call that kept its sound. */
export function callerScript({ said, replies, timeline, durationMs }: OldCall): CallerScript {
  const starts = [0, ...replies.map(({ atMs }) => atMs).toSorted((one, other) => one - other)];
  return starts.map((startMs, index) => {
    const endMs = starts[index + 1] ?? Infinity;
    const within = timeline.filter(({ who, atMs }) => who === 'caller' && atMs >= startMs && atMs < endMs);
    const keys = within.flatMap(({ what, atMs, detail = '' }) => {
      const key = what === 'presses' ? keyOf(detail) : undefined;
      return key === undefined ? [] : [{ atMs: atMs - startMs, key }];
    });
    const left = within.find(({ what }) => what === 'hangs_up');
    const mulaw = encodeMulaw(said.subarray(sampleAt(startMs), sampleAt(Math.min(endMs, durationMs))));
    return { mulaw, keys, ...(left !== undefined && { hangUpMs: left.atMs - startMs }) };
  });
}

function sampleAt(ms: number): number {
  return Math.floor(ms) * (LINE_RATE_HZ / 1000);
}

/** Plays a script. `stop` must be called at the end of the call. */
export class CallerAgain {
  readonly #script: CallerScript;
  readonly #phone: Phone;
  readonly #clock: Clock;
  #next = 0;
  #timers: CancelTimer[] = [];

  constructor(script: CallerScript, phone: Phone, clock: Clock) {
    this.#script = script;
    this.#phone = phone;
    this.#clock = clock;
  }

  /** Call this when the call begins and when each reply begins. After the last reply of the old call, the caller is silent. */
  goOn(): void {
    const part = this.#script[this.#next];
    this.#next += 1;
    if (part === undefined) return;
    this.stop();
    const phone = this.#phone;
    if (part.mulaw.length > 0) phone.say(part.mulaw, 'as before');
    this.#timers = part.keys.map(({ atMs, key }) => this.#clock.after(atMs, () => phone.press(key)));
    if (part.hangUpMs === undefined) return;
    this.#timers.push(this.#clock.after(part.hangUpMs, () => phone.hangUp()));
  }

  stop(): void {
    for (const cancel of this.#timers) cancel();
  }
}
