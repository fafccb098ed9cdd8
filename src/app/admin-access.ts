// The administration interface for one command: the kept tokens, and what is asked with them. Runs nothing, and never takes
// a token away from a server that is running: while one holds the store, what it keeps is read, and nothing is changed.
import { stat } from 'node:fs/promises';
import { openAccess, type Access } from '../admin/access.ts';
import { tryDecodeId } from '../admin/platform-id.ts';
import { platformAddress, type PlatformAddress } from '../admin/platform-address.ts';
import { DataSources } from '../admin/rest/data-sources.ts';
import { RestClient } from '../admin/rest/rest-client.ts';
import { Schemas } from '../admin/rest/schemas.ts';
import type { SecretStore } from '../admin/secret-store.ts';
import type { TokenSource } from '../admin/token-source.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { loadProfile, type PlatformProfile } from '../contract/profile.ts';
import { DurableStore, isHeldElsewhere, readStore, type DurableStoreOptions } from '../store/durable-store.ts';
import { accessSettings, openSeal, type AdminSettings } from './admin-settings.ts';
import type { Settings } from './config/settings.ts';

/** What a command needs. */
export interface AdminAccessParts {
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  readonly log: Logger;
  /** `look`: a server may hold the store; `change`: the store is ours alone, or the command fails. */
  readonly purpose: 'look' | 'change';
  /** What to do when the store cannot be ours alone. */
  readonly ifHeld?: string | undefined;
}

/** What it gets. `close` must be called. */
export interface AdminAccess {
  readonly profile: PlatformProfile;
  readonly address: PlatformAddress;
  readonly store: SecretStore;
  /** Whether a running server, or another command, holds the store. */
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
  const { profile, clock, log } = parts;
  const address = platformAddress(profile, admin.baseUrl);
  const settings = accessSettings(admin);
  const { store, release } = await openStore({ file: admin.store.file, seal: openSeal(admin) }, parts);
  try {
    const access = openAccess(settings, { address, profile, store, clock, log, renews: release !== undefined });
    const clientOf = (organization: string): RestClient =>
      new RestClient({ address, tokens: access.organizations.tokensOf(organization), clock, log });
    return {
      ...{ profile, address, store, access, isHeldElsewhere: release === undefined },
      tokensOf: (organization) => access.organizations.tokensOf(organization),
      dataSourcesOf: (organization) => new DataSources(clientOf(organization), profile.jws.claims),
      schemasOf: (organization) => new Schemas(clientOf(organization)),
      close: async () => {
        await access.close();
        await release?.();
      },
    };
  } catch (thrown) {
    await release?.();
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
  /** Undefined for a store that another process holds. */
  readonly release: (() => Promise<void>) | undefined;
}

async function openStore(
  options: DurableStoreOptions,
  { purpose, ifHeld = 'stop it first, or let the server do it' }: Pick<AdminAccessParts, 'purpose' | 'ifHeld'>,
): Promise<OpenStore> {
  try {
    const store = await DurableStore.open({ ...options, waits: purpose === 'change' });
    return { store, release: () => store.close() };
  } catch (thrown) {
    if (!isHeldElsewhere(thrown)) throw thrown;
    if (purpose === 'look') return { store: readOnly(options), release: undefined };
    throw new AppError('store_failed', `a running server or another command holds the sealed store: ${ifHeld}`, {
      details: { file: options.file },
      cause: thrown,
    });
  }
}

/** A store as another process writes it: opened anew whenever it has become another file, as each change makes it. */
function readOnly(options: DurableStoreOptions): SecretStore {
  let last: { readonly mark: string; readonly entries: ReadonlyMap<string, string> } | undefined;
  const entries = async (): Promise<ReadonlyMap<string, string>> => {
    const mark = await markOf(options.file);
    // Marked before it is read: a change between the two is read twice, and never missed.
    if (last?.mark !== mark) last = { mark, entries: await readStore(options) };
    return last.entries;
  };
  const refused = (): Promise<never> =>
    Promise.reject(
      new AppError('store_failed', 'another process holds the sealed store: nothing can be changed', { details: { file: options.file } }),
    );
  return {
    get: async (key) => (await entries()).get(key),
    keys: async (prefix) => [...(await entries()).keys()].filter((key) => key.startsWith(prefix)).sort(),
    set: refused,
    delete: refused,
  };
}

/** Which file stands there; empty for none. */
async function markOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return [ino, mtimeMs, size].join('/');
  } catch {
    // What keeps it from being read, the reader says.
    return '';
  }
}
