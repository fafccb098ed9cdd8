// Which organizations have authorized which service apps. A decision of an administrator takes effect at once, and webhooks are notified.
// Each authorization has a machine account, which is deleted with it.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { BoundedMap } from './bounded-map.ts';
import type { DataSourceBook } from './data-source-book.ts';
import type { Deliveries } from './deliveries.ts';
import type { Authorization } from './delivery-message.ts';
import { isoTime, type PlatformTime } from './platform-time.ts';
import type { Switches } from './switches.ts';
import type { TokenBook } from './token-book.ts';

/** The parts of the platform that a decision changes. */
interface AuthorizationParts {
  readonly clock: Clock;
  readonly nowMs: PlatformTime;
  readonly switches: Pick<Switches, 'propagationMs' | 'onDeauthorization'>;
  readonly tokens: TokenBook;
  readonly dataSources: DataSourceBook;
  readonly deliveries: Deliveries;
}

const MAX_AUTHORIZATIONS = 1000;

/** All authorizations in force: at most 1000; beyond that, the oldest are dropped. */
export class Authorizations {
  readonly #parts: AuthorizationParts;
  readonly #inForce = new BoundedMap<string, Authorization>(MAX_AUTHORIZATIONS);

  constructor(parts: AuthorizationParts) {
    this.#parts = parts;
  }

  /** Adds an authorization with a machine account of its own. Replaces an earlier one of the same app and organization. */
  begin(organizationId: string, clientId: string): Authorization {
    const { clock, nowMs, switches, deliveries } = this.#parts;
    this.#end(organizationId, clientId);
    const authorization: Authorization = {
      ...{ clientId, organizationId, machineAccountId: randomUUID(), date: isoTime(nowMs()) },
      usableFromMs: clock.monotonicMs() + switches.propagationMs,
    };
    this.#inForce.set(key(clientId, organizationId), authorization);
    deliveries.announce({ event: 'authorized', authorization, date: isoTime(nowMs()) });
    return authorization;
  }

  /** Withdraws an authorization, so that its tokens stop working. @returns false when there is none. */
  end(organizationId: string, clientId: string): boolean {
    const { nowMs, switches, dataSources, deliveries } = this.#parts;
    const authorization = this.#end(organizationId, clientId);
    if (authorization === undefined) return false;
    if (switches.onDeauthorization === 'delete') dataSources.deleteOf(organizationId, clientId);
    deliveries.announce({ event: 'deauthorized', authorization, date: isoTime(nowMs()) });
    return true;
  }

  /** The authorization for which tokens are issued; undefined when there is none, or when it is too new (H-26). */
  usable(clientId: string, organizationId: string): Authorization | undefined {
    const found = this.#inForce.get(key(clientId, organizationId));
    return found !== undefined && found.usableFromMs <= this.#parts.clock.monotonicMs() ? found : undefined;
  }

  /** All authorizations in force, oldest first. */
  all(): readonly Authorization[] {
    return [...this.#inForce.values()];
  }

  #end(organizationId: string, clientId: string): Authorization | undefined {
    const authorization = this.#inForce.get(key(clientId, organizationId));
    if (authorization === undefined) return undefined;
    this.#inForce.delete(key(clientId, organizationId));
    this.#parts.tokens.revoke(({ accountId }) => accountId === authorization.machineAccountId);
    return authorization;
  }
}

function key(clientId: string, organizationId: string): string {
  return `${clientId} ${organizationId}`;
}
