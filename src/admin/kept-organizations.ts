// What the store holds of organizations, for people: who has authorized the app, when tokens expire, which data sources are managed;
// and how to erase one. Sends no request, and returns no secret.
import { parseJson } from '../base/json.ts';
import { lifetimesOf, type Access, type Lifetimes } from './access.ts';
import { journalKey, journalsOf, organizationsWithJournals, type JournalView } from './lifecycle/nonce-journal.ts';
import { organizationsWithTokens, tokensKey } from './organizations.ts';
import type { SecretStore } from './secret-store.ts';
import { oauthTokens } from './tokens.ts';
import { isOpen, keptEventKey, organizationsWithEvents, readKeptEvent } from './webhooks/kept-events.ts';

/** What the newest event of an organization says. */
export interface AuthorizationView {
  /** False when it has withdrawn the authorization. */
  readonly isAuthorized: boolean;
  /** Ms since the epoch; the time of the authorization, also when it was withdrawn. */
  readonly authorizedAtMs: number;
  /** Whether the server must still process it. */
  readonly isOpen: boolean;
}

export interface KeptOrganization {
  /** A plain UUID. */
  readonly organizationId: string;
  /** Undefined without any webhook delivery from it. */
  readonly event: AuthorizationView | undefined;
  /** Undefined without stored tokens. */
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

  /** The stored state of one; empty members without any. @param organizationId - a plain UUID. */
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
   * Erases all of it; changes nothing at the platform. The store must be locked by this process.
   *
   * @returns what was there.
   * @throws AppError of the store; another attempt erases the rest.
   */
  async forget(organizationId: string): Promise<KeptOrganization> {
    const kept = await this.get(organizationId);
    const ownTokens = this.#tokensKey(organizationId);
    const keys = [
      ...kept.dataSources.map(({ transport }) => journalKey({ organizationId, transport })),
      ...(ownTokens === undefined ? [] : [ownTokens]),
      // Tokens of a previous access method, from before the settings were changed.
      tokensKey(organizationId),
      // Last: without the event nobody would know of the rest.
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
