// Limits the requests of each client in the last minute.
import type { Clock } from '../../base/clock.ts';
import { BoundedMap } from './bounded-map.ts';
import { Refusal } from './refusal.ts';
import type { Switches } from './switches.ts';

const MINUTE_MS = 60_000;
const MAX_CLIENTS = 1000;

/** Counts the requests of each client. */
export class RateLimit {
  readonly #times = new BoundedMap<string, number[]>(MAX_CLIENTS);
  readonly #clock: Clock;
  readonly #switches: Pick<Switches, 'requestsPerMinute'>;

  constructor(clock: Clock, switches: Pick<Switches, 'requestsPerMinute'>) {
    this.#clock = clock;
    this.#switches = switches;
  }

  /** Counts a request; refused requests do not count. @throws Refusal 429 with the seconds until another request is allowed. */
  admit(clientId: string): void {
    const limit = this.#switches.requestsPerMinute;
    if (limit === 0) return;
    const nowMs = this.#clock.monotonicMs();
    const recent = (this.#times.get(clientId) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    this.#times.set(clientId, recent);
    const oldestMs = recent[recent.length - limit];
    if (oldestMs !== undefined) {
      throw new Refusal(429, 'too many requests', { retryAfterSeconds: Math.ceil((oldestMs + MINUTE_MS - nowMs) / 1000) });
    }
    recent.push(nowMs);
  }
}
