// What administrators of customer organizations do with a service app: authorize it and take that back. Both have their
// effect at once and are announced to webhooks.
import type { DataSourceBook } from './data-source-book.ts';
import type { Deliveries } from './deliveries.ts';
import type { Authorization, OrganizationBook } from './organization-book.ts';
import type { PlatformTime } from './platform-time.ts';
import type { Switches } from './switches.ts';
import type { TokenBook } from './token-book.ts';

/** What the administrators' side needs. */
export interface OrganizationParts {
  readonly book: OrganizationBook;
  readonly tokens: TokenBook;
  readonly dataSources: DataSourceBook;
  readonly deliveries: Deliveries;
  readonly time: PlatformTime;
  readonly switches: Pick<Switches, 'onDeauthorization'>;
}

/** The administrators of all organizations. */
export class Organizations {
  readonly #parts: OrganizationParts;

  constructor(parts: OrganizationParts) {
    this.#parts = parts;
  }

  /** Authorizes a service app; a second time ends the first, whose machine account goes (section 6.5). */
  authorize(organizationId: string, clientId: string): Authorization {
    const { book, deliveries, time } = this.#parts;
    this.#end(organizationId, clientId);
    const authorization = book.add(clientId, organizationId);
    deliveries.announce({ event: 'authorized', authorization, date: time.iso() });
    return authorization;
  }

  /** Takes the authorization back: its tokens stop working. False when there was none. */
  deauthorize(organizationId: string, clientId: string): boolean {
    const { dataSources, deliveries, time, switches } = this.#parts;
    const authorization = this.#end(organizationId, clientId);
    if (authorization === undefined) return false;
    if (switches.onDeauthorization === 'delete') dataSources.deleteOf(organizationId, clientId);
    deliveries.announce({ event: 'deauthorized', authorization, date: time.iso() });
    return true;
  }

  #end(organizationId: string, clientId: string): Authorization | undefined {
    const { book, tokens } = this.#parts;
    const authorization = book.remove(clientId, organizationId);
    if (authorization !== undefined) tokens.revoke(({ accountId }) => accountId === authorization.machineAccountId);
    return authorization;
  }
}
