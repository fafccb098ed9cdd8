// Which organizations have authorized which service app, and since when. An authorization has a machine account, which
// dies with it (section 6.5).
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { BoundedMap } from './bounded-map.ts';
import type { PlatformTime } from './platform-time.ts';
import type { Switches } from './switches.ts';

/** One organization's consent to one service app. */
export interface Authorization {
  readonly clientId: string;
  readonly organizationId: string;
  readonly machineAccountId: string;
  /** ISO time with Z. */
  readonly date: string;
  /** From when on tokens are handed out, monotonic ms (H-26). */
  readonly usableFromMs: number;
}

const MAX_AUTHORIZATIONS = 1000;

/** All authorizations in force. */
export class OrganizationBook {
  readonly #authorizations = new BoundedMap<string, Authorization>(MAX_AUTHORIZATIONS);
  readonly #clock: Clock;
  readonly #time: PlatformTime;
  readonly #switches: Pick<Switches, 'propagationMs'>;

  constructor(parts: { readonly clock: Clock; readonly time: PlatformTime; readonly switches: Pick<Switches, 'propagationMs'> }) {
    this.#clock = parts.clock;
    this.#time = parts.time;
    this.#switches = parts.switches;
  }

  /** Begins an authorization, with a machine account of its own. */
  add(clientId: string, organizationId: string): Authorization {
    const authorization: Authorization = {
      clientId,
      organizationId,
      machineAccountId: randomUUID(),
      date: this.#time.iso(),
      usableFromMs: this.#clock.monotonicMs() + this.#switches.propagationMs,
    };
    this.#authorizations.set(key(clientId, organizationId), authorization);
    return authorization;
  }

  /** Ends an authorization and gives it back; undefined when there was none. */
  remove(clientId: string, organizationId: string): Authorization | undefined {
    const authorization = this.find(clientId, organizationId);
    this.#authorizations.delete(key(clientId, organizationId));
    return authorization;
  }

  find(clientId: string, organizationId: string): Authorization | undefined {
    return this.#authorizations.get(key(clientId, organizationId));
  }

  /** Those in force, oldest first. */
  all(): readonly Authorization[] {
    return this.#authorizations.values();
  }

  /** True when tokens are handed out for it. */
  isUsable({ usableFromMs }: Authorization): boolean {
    return usableFromMs <= this.#clock.monotonicMs();
  }
}

function key(clientId: string, organizationId: string): string {
  return `${clientId} ${organizationId}`;
}
