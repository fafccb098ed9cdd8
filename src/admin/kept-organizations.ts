// Shows what the store holds about organizations: authorizations, when tokens expire, and managed data sources; also erases an
// organization. Sends no request, and returns no secret.
import { parseJson } from '../base/json.ts';
import { lifetimesOf, type Access, type Lifetimes } from './access.ts';
import { journalKey, journalsOf, organizationsWithJournals, type JournalView } from './lifecycle/nonce-journal.ts';
import { organizationsWithTokens, tokensKey } from './organizations.ts';
import type { SecretStore } from './secret-store.ts';
import { oauthTokens } from './tokens.ts';
import { isOpen, keptEventKey, organizationsWithEvents, readKeptEvent } from './webhooks/kept-events.ts';

/** The content of an organization's newest event. */
export interface AuthorizationView {
  /** False when the organization has withdrawn the authorization. */
  readonly isAuthorized: boolean;
  /** Time of the authorization, ms since the epoch; also after it was withdrawn. */
  readonly authorizedAtMs: number;
  /** Whether the server has not processed the event yet. */
  readonly isOpen: boolean;
}

export interface KeptOrganization {
  /** A plain UUID. */
  readonly organizationId: string;
  /** Undefined when no event of the organization is stored. */
  readonly event: AuthorizationView | undefined;
  /** Undefined when no tokens are stored. */
  readonly tokens: Lifetimes | undefined;
  readonly dataSources: readonly JournalView[];
}

/** The organizations of one store. */
export class KeptOrganizations {
  readonly #store: SecretStore;
  readonly #tokensKey: Access['tokensKey'];

  constructor(store: SecretStore, access: Pick<Access, 'tokensKey'>) {
    this.#store = store;
    this.#tokensKey = access.tokensKey;
  }

  /** UUIDs of all organizations in the store, sorted. */
  async ids(): Promise<readonly string[]> {
    const [events, tokens, journals] = await Promise.all([
      organizationsWithEvents(this.#store),
      organizationsWithTokens(this.#store),
      organizationsWithJournals(this.#store),
    ]);
    return [...new Set([...events, ...tokens, ...journals])].sort();
  }

  /** The stored data about one organization; members without data are empty. @param organizationId - a plain UUID. */
  async get(organizationId: string): Promise<KeptOrganization> {
    const event = await readKeptEvent(this.#store, organizationId);
    return {
      organizationId,
      event:
        event === undefined
          ? undefined
          : { isAuthorized: event.event === 'authorized', authorizedAtMs: event.authorizedAtMs, isOpen: isOpen(event) },
      tokens: await this.#lifetimes(this.#tokensKey(organizationId)),
      dataSources: await journalsOf(this.#store, organizationId),
    };
  }

  /**
   * Erases everything about an organization from the store; changes nothing on the platform. This process must hold the store.
   *
   * @returns what was erased.
   * @throws AppError of the store; another call then erases the rest.
   */
  async forget(organizationId: string): Promise<KeptOrganization> {
    const kept = await this.get(organizationId);
    const ownTokens = this.#tokensKey(organizationId);
    const keys = [
      ...kept.dataSources.map(({ transport }) => journalKey({ organizationId, transport })),
      ...(ownTokens === undefined ? [] : [ownTokens]),
      // Tokens that were stored before the access method in the settings changed.
      tokensKey(organizationId),
      // Erased last: without the event nobody would know that there is more to erase.
      keptEventKey(organizationId),
    ];
    for (const key of keys) await this.#store.delete(key);
    return kept;
  }

  async #lifetimes(key: string | undefined): Promise<Lifetimes | undefined> {
    const text = key === undefined ? undefined : await this.#store.get(key);
    const tokens = oauthTokens.safeParse(parseJson(text ?? '')).data;
    return tokens === undefined ? undefined : lifetimesOf(tokens);
  }
}
