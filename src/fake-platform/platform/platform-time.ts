// What time the platform believes it is. Durations are not its business: those are monotonic.
import type { Clock } from '../../base/clock.ts';
import type { Switches } from './switches.ts';

/** The platform's wall clock, which may be wrong on purpose. */
export class PlatformTime {
  readonly #clock: Clock;
  readonly #switches: Pick<Switches, 'skewMs'>;

  constructor(clock: Clock, switches: Pick<Switches, 'skewMs'>) {
    this.#clock = clock;
    this.#switches = switches;
  }

  /** Ms since the epoch. */
  nowMs(): number {
    return this.#clock.nowMs() + this.#switches.skewMs;
  }

  /** Now, in ISO form with Z. */
  iso(): string {
    return isoTime(this.nowMs());
  }
}

/** Ms since the epoch in ISO form with Z. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
