// Opens the administration interface for one command. Starts nothing in the background, and never takes the store from a running server:
// while a server holds it, the command may read the store but not change it.
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
   * `read`: the command only reads, so a running server may hold the store. `change`: the command needs the store alone, or fails. `save`:
   * the command first waits for a person and then writes, so it needs the store only at the end. A shared store can be written while a
   * server leads.
   */
  readonly purpose: 'read' | 'change' | 'save';
  /** Whether the command may request the first token of an organization. Default false: only a server requests it. */
  readonly asksForFirst?: boolean | undefined;
  /** The advice in the error when another process holds the store. */
  readonly ifHeld?: string | undefined;
  /** The settings of the store that several servers share. Default: the store is a file. */
  readonly sharing?: Settings['store'] | undefined;
}

/** The open administration interface. Call `close`. */
export interface AdminAccess {
  readonly profile: PlatformProfile;
  readonly address: PlatformAddress;
  readonly store: SecretStore;
  /** The path or address of the store, for messages. */
  readonly keptIn: string;
  /** Whether another process held the store when the interface was opened. */
  readonly isHeldElsewhere: boolean;
  readonly access: Access;
  /** The tokens of one organization. @throws AppError `bad_message` for an invalid organization id. */
  tokensOf(organization: string): TokenSource;
  dataSourcesOf(organization: string): DataSources;
  schemasOf(organization: string): Schemas;
  close(): Promise<void>;
}

/**
 * Opens the interface. Sends no request yet.
 *
 * @throws AppError `store_failed`, also when another process holds the store and the command wants to change it; `config_invalid`,
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

/** Loads the platform profile that the settings name. @throws AppError `profile_invalid`. */
export function platformOf({ platform }: Pick<Settings, 'platform'>): PlatformProfile {
  return loadProfile(platform.profile);
}

/**
 * The plain UUID of an organization, as settings, store and records spell it.
 *
 * @throws AppError `config_invalid` for any other text. The message does not repeat the text, which may be a pasted secret.
 */
export function organizationIdOf(written: string, { ids }: PlatformProfile): string {
  const id = tryDecodeId(written, 'ORGANIZATION', ids?.urnScheme ?? '');
  if (id !== undefined) return id;
  throw new AppError('config_invalid', 'this is no id of an organization: write its UUID, or its encoded id as the platform shows it');
}

interface OpenStore {
  readonly store: SecretStore;
  /** Undefined when this command holds the store from start to end. */
  readonly renewing: Renewing | undefined;
  readonly isHeldElsewhere: boolean;
  readonly release: () => Promise<void>;
}

/** The error message when another process holds the store. */
const IF_HELD = 'stop it first, or let the server do it';

/** As {@link openStore}, for a shared store: a command that changes it holds the lease, as the leader does. */
async function openShared(
  admin: AdminSettings,
  redis: Settings['store']['redis'],
  { purpose, log, ifHeld = IF_HELD }: Pick<AdminAccessParts, 'purpose' | 'log' | 'ifHeld'>,
): Promise<OpenStore> {
  const { SharedCommandStore } = await import('./shared-command-store.ts');
  const store = await SharedCommandStore.open({
    ...{ redis, seal: openSeal(admin), log, ifHeld },
    ...{ waits: purpose !== 'read', deposes: purpose === 'save' },
  });
  const release = (): Promise<void> => store.close();
  try {
    if (purpose === 'change') await store.lead();
    const isHeldElsewhere = purpose !== 'change' && (await store.isHeld());
    return { store, renewing: store.renewing, isHeldElsewhere, release };
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
    // Checks early that the file can be locked, then releases it until there is something to write.
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
