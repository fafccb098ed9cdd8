// The administration interface for one command: the kept tokens, and what is asked with them. Runs nothing, and never takes
// a token away from a server that is running: while one holds the store, what it keeps is read, and nothing is changed.
import { openAccess, type Access } from '../admin/access.ts';
import { tryDecodeId } from '../admin/platform-id.ts';
import { platformAddress, type PlatformAddress } from '../admin/platform-address.ts';
import { DataSources } from '../admin/rest/data-sources.ts';
import { RestClient } from '../admin/rest/rest-client.ts';
import { Schemas } from '../admin/rest/schemas.ts';
import type { Renewing } from '../admin/kept-tokens.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import type { TokenSource } from '../admin/token-source.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { loadProfile, type PlatformProfile } from '../contract/profile.ts';
import { DurableStore, isHeld, isHeldElsewhere, type DurableStoreOptions } from '../store/durable-store.ts';
import { accessSettings, openSeal, type AdminSettings } from './admin-settings.ts';
import type { Settings } from './config/settings.ts';
import { FileCommandStore } from './file-command-store.ts';

export interface AdminAccessParts {
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * `read`: a server may hold the store, or take it meanwhile; `change`: the store is ours alone, or the command fails;
   * `save`: as `read`, for what is known only after a long wait and is then written, unless somebody holds the store already.
   */
  readonly purpose: 'read' | 'change' | 'save';
  /** Whether the platform is asked for the first token of an organization; default false: a server does so. */
  readonly asksForFirst?: boolean | undefined;
  /** What to do when the store cannot be ours alone. */
  readonly ifHeld?: string | undefined;
  /** Where servers share their stores; default: the store is a file. */
  readonly sharing?: Settings['store'] | undefined;
}

/** What it gets. `close` must be called. */
export interface AdminAccess {
  readonly profile: PlatformProfile;
  readonly address: PlatformAddress;
  readonly store: SecretStore;
  /** Where that is, for people. */
  readonly keptIn: string;
  /** Whether a running server, or another command, held the store when it was opened. */
  readonly isHeldElsewhere: boolean;
  readonly access: Access;
  /** With the tokens of one organization. @throws AppError `bad_message` for what is no organization. */
  tokensOf(organization: string): TokenSource;
  dataSourcesOf(organization: string): DataSources;
  schemasOf(organization: string): Schemas;
  close(): Promise<void>;
}

/**
 * Opens it; nobody is asked for anything yet.
 *
 * @throws AppError `store_failed`, also when another process holds the store and something is to be changed; `config_invalid`,
 *   `profile_invalid`, `bad_message`.
 */
export async function openAdminAccess(admin: AdminSettings, parts: AdminAccessParts): Promise<AdminAccess> {
  const { profile, clock, log, sharing, asksForFirst = false } = parts;
  const address = platformAddress(profile, admin.baseUrl);
  const settings = accessSettings(admin);
  const opened = await (sharing?.kind === 'redis' ? openShared(admin, sharing.redis, parts) : openStore(admin, parts));
  const { store, renewing, isHeldElsewhere, release } = opened;
  try {
    const bufferSeconds = admin.tokenExpiryBufferS;
    const access = openAccess(settings, { address, profile, store, clock, log, renewing, asksForFirst, bufferSeconds });
    const clientOf = (organization: string): RestClient =>
      new RestClient({ address, tokens: access.organizations.tokensOf(organization), clock, log });
    return {
      ...{ profile, address, store, access, isHeldElsewhere },
      keptIn: sharing?.kind === 'redis' ? sharing.redis.url : admin.store.file,
      tokensOf: (organization) => access.organizations.tokensOf(organization),
      dataSourcesOf: (organization) => new DataSources(clientOf(organization), profile.jws.claims),
      schemasOf: (organization) => new Schemas(clientOf(organization)),
      close: async () => {
        await access.close();
        await release();
      },
    };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

/** The platform that the settings name. @throws AppError `profile_invalid`. */
export function platformOf({ platform }: Pick<Settings, 'platform'>): PlatformProfile {
  return loadProfile(platform.profile);
}

/**
 * An organization in the one spelling that settings, store and records share: a plain UUID.
 *
 * @throws AppError `config_invalid` for what is none; it is not repeated, because people paste what they should not.
 */
export function organizationIdOf(written: string, { ids }: PlatformProfile): string {
  const id = tryDecodeId(written, 'ORGANIZATION', ids?.urnScheme ?? '');
  if (id !== undefined) return id;
  throw new AppError('config_invalid', 'this is no id of an organization: write its UUID, or its encoded id as the platform shows it');
}

interface OpenStore {
  readonly store: SecretStore;
  /** Undefined for a store that is ours all the time. */
  readonly renewing: Renewing | undefined;
  readonly isHeldElsewhere: boolean;
  readonly release: () => Promise<void>;
}

/** What is said of a store that is not ours alone. */
const IF_HELD = 'stop it first, or let the server do it';

/** As {@link openStore}, where servers share it: a command that changes something owns it, as a server does that renews. */
async function openShared(
  admin: AdminSettings,
  redis: Settings['store']['redis'],
  { purpose, log, ifHeld = IF_HELD }: Pick<AdminAccessParts, 'purpose' | 'log' | 'ifHeld'>,
): Promise<OpenStore> {
  const { SharedCommandStore } = await import('./shared-command-store.ts');
  const store = await SharedCommandStore.open({ redis, seal: openSeal(admin), log, ifHeld, waits: purpose !== 'read' });
  const release = (): Promise<void> => store.close();
  try {
    if (purpose === 'read') return { store, renewing: store.renewing, isHeldElsewhere: await store.isHeld(), release };
    // For `save` tried before somebody waits for it, and free until there is something to write.
    await (purpose === 'save' ? store.tryToLead() : store.lead());
    return { store, renewing: store.renewing, isHeldElsewhere: false, release };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

async function openStore(
  admin: AdminSettings,
  { purpose, ifHeld = IF_HELD }: Pick<AdminAccessParts, 'purpose' | 'ifHeld'>,
): Promise<OpenStore> {
  const options = { file: admin.store.file, seal: openSeal(admin) };
  if (purpose !== 'read') {
    const store = await openAlone(options, ifHeld);
    if (purpose === 'change') return { store, renewing: undefined, isHeldElsewhere: false, release: () => store.close() };
    // Tried before somebody waits for it, and free until there is something to write.
    await store.close();
  }
  const beginsWithoutFile = admin.login === 'oauth_refresh';
  const store = new FileCommandStore({ ...options, ifHeld, beginsWithoutFile, waits: purpose === 'save' });
  return { store, renewing: store.renewing, isHeldElsewhere: await isHeld(options), release: () => Promise.resolve() };
}

async function openAlone(options: DurableStoreOptions, ifHeld: string): Promise<DurableStore> {
  try {
    return await DurableStore.open(options);
  } catch (thrown) {
    if (!isHeldElsewhere(thrown)) throw thrown;
    throw new AppError('store_failed', `a running server or another command holds the sealed store: ${ifHeld}`, {
      details: { file: options.file },
      cause: thrown,
    });
  }
}
