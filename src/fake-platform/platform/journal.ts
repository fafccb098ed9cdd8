// The requests to the administration side, so that tests can count them and people can watch them. Records no headers, queries or bodies,
// and so no secrets.
import type { RouteName } from './route.ts';

/** Who asked: an app, or whoever controls the platform. */
export interface Asker {
  readonly kind: 'integration' | 'service_app' | 'control';
  /** Set for a service app with a token: the customer organization that it acted for. */
  readonly organizationId: string | undefined;
}

export interface JournalEntry {
  readonly method: string;
  /** Undefined: no route has the path. */
  readonly route: RouteName | undefined;
  /** The path without its query, at most 200 characters. */
  readonly path: string;
  /** The status of the answer, even of an answer that was lost; 0: there was no answer. */
  readonly status: number;
  /** False: the answer was lost, or there was none. */
  readonly isAnswered: boolean;
  readonly trackingId: string;
  /** Undefined: the request did not name a known app. */
  readonly asker: Asker | undefined;
  /** Time on the platform's clock, ms since the epoch. */
  readonly atMs: number;
}

const MAX_ENTRIES = 1000;
const MAX_PATH_CHARS = 200;

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

  /** All recorded requests, oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** How often a route was requested, with or without an answer. */
  count(route: RouteName): number {
    return this.#entries.filter((entry) => entry.route === route).length;
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
