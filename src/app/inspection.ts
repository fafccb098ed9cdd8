// Shows what the server would do with one token, from the operator's settings: compares it with the data sources in the settings, in the
// store, and on request on the platform. Changes nothing: a server may be running.
import { inspectToken, type TokenInspection } from '../admin/doctor/inspect-token.ts';
import { trustAsked, trustKept } from '../admin/lifecycle/kept-trust.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { createLogger, type Logger } from '../base/log.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { openAdminAccess } from './admin-access.ts';
import { organizationsMeant, wantedDataSourcesIn } from './admin-data-sources.ts';
import type { Settings } from './config/settings.ts';
import { openTokenCheck } from './token-check.ts';
import { openTrust, type Trust } from './trust.ts';

export interface InspectionParts {
  readonly settings: Settings;
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether to ask the platform for the data sources of the token's organization. */
  readonly asks: boolean;
}

export interface Inspection extends TokenInspection {
  /** How many data sources the token was compared with, by their origin. */
  readonly heldAgainst: { readonly settings: number; readonly store: number; readonly platform: number };
}

/**
 * Inspects a token.
 *
 * @throws AppError `config_invalid` when the platform is needed but the administration is disabled; `store_failed`, `profile_invalid`;
 * and errors of the platform.
 */
export async function inspectAsServer(token: string, parts: InspectionParts, signal: AbortSignal): Promise<Inspection> {
  const { settings, profile, clock, asks } = parts;
  const { admin, auth } = settings;
  if (asks && !admin.enabled) throw new AppError('config_invalid', 'the platform cannot be asked: admin.enabled is false');
  const trust = openTrust(settings, profile, clock);
  // Not logged, because the verdict contains the reason.
  const tokenCheck = openTokenCheck(settings, { profile, trust, clock, log: createLogger({ level: 'silent' }) });
  const inspect = (): Promise<TokenInspection> => inspectToken(token, { profile, verifier: tokenCheck.verifier });
  try {
    const asked = asks ? (await inspect()).claims?.organizationId : undefined;
    const managed = admin.enabled ? await fillFromStore(trust, asked, parts, signal) : { store: 0, platform: 0 };
    return { ...(await inspect()), heldAgainst: { settings: auth.dataSources.length, ...managed } };
  } finally {
    tokenCheck.close();
  }
}

/**
 * Trusts the stored data sources, as the server does.
 *
 * @param asked - the organization whose data sources are requested from the platform; undefined: none.
 */
async function fillFromStore(
  trust: Trust,
  asked: string | undefined,
  { settings: { admin, store: sharing }, profile, clock, log }: InspectionParts,
  signal: AbortSignal,
): Promise<Omit<Inspection['heldAgainst'], 'settings'>> {
  const access = await openAdminAccess(admin, { profile, clock, log, sharing, purpose: 'read' });
  try {
    const parts = { store: access.store, trust, clock };
    const found = { store: 0, platform: 0 };
    for (const organizationId of await organizationsMeant(undefined, { admin, access })) {
      for (const wanted of wantedDataSourcesIn(organizationId, { admin, access })) {
        const keptId = await trustKept(wanted, parts);
        if (keptId !== undefined) found.store += 1;
        if (organizationId !== asked) continue;
        const id = await trustAsked(wanted, keptId, access.dataSourcesOf(organizationId), parts, signal);
        if (id !== undefined) found.platform += 1;
      }
    }
    return found;
  } finally {
    await access.close();
  }
}
