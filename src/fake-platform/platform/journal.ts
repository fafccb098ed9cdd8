// The requests to the administration side, so that tests can count them and people can watch them. Contains no
// header, query or body, and so no secret.
import type { RouteName } from './route.ts';

/** Who asked, as far as known: an app, for a customer organization or not, or whoever started the platform. */
export interface Asker {
  readonly kind: 'integration' | 'service_app' | 'control';
  /** The customer organization that a service app acted for. */
  readonly organizationId: string | undefined;
}

export interface JournalEntry {
  readonly method: string;
  /** Undefined when no route has the path. */
  readonly route: RouteName | undefined;
  /** Without query, at most 200 characters. */
  readonly path: string;
  /** The status of the answer, even if it was lost; 0 without one. */
  readonly status: number;
  /** False when the answer was lost or never came. */
  readonly isAnswered: boolean;
  readonly trackingId: string;
  /** Undefined when the request did not name it in a valid form. */
  readonly asker: Asker | undefined;
  /** The platform's time, ms since the epoch. */
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

  /** Oldest first. */
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
