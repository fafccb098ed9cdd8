// What was asked of the administration side, so that tests can count requests and people can watch them. It holds no
// header, query or body, and so no secret.
import type { RouteName } from './route.ts';

/** Who asked, as far as it was known: an app, for a customer organization or not, or whoever started the platform. */
export interface Asker {
  readonly kind: 'integration' | 'service_app' | 'control';
  /** The customer organization that a service app acted for. */
  readonly organizationId: string | undefined;
}

/** One request. */
export interface JournalEntry {
  readonly method: string;
  /** Undefined when no route has the path. */
  readonly route: RouteName | undefined;
  /** Without query, at most 200 characters. */
  readonly path: string;
  /** What was answered, or would have been; 0 when nobody got to an answer. */
  readonly status: number;
  /** False when the answer was lost or never came. */
  readonly isAnswered: boolean;
  readonly trackingId: string;
  /** Undefined when the request did not say it, or not in a way that can be believed. */
  readonly asker: Asker | undefined;
  /** The platform's time, ms since the epoch. */
  readonly atMs: number;
}

const MAX_ENTRIES = 1000;
const MAX_PATH_CHARS = 200;

/** The latest 1000 requests. */
export class Journal {
  readonly #entries: JournalEntry[] = [];
  readonly #onEntry: (entry: JournalEntry) => void;

  /** @param onEntry - called for each request; must not throw. */
  constructor(onEntry: (entry: JournalEntry) => void = () => undefined) {
    this.#onEntry = onEntry;
  }

  add(entry: JournalEntry): void {
    const kept = { ...entry, path: (entry.path.split('?')[0] ?? '').slice(0, MAX_PATH_CHARS) };
    this.#entries.push(kept);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    this.#onEntry(kept);
  }

  /** Oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** How often a route was asked, answered or not. */
  count(route: RouteName): number {
    return this.#entries.filter((entry) => entry.route === route).length;
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
