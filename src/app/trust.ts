// The data sources that the token check trusts: at first those of the settings with their nonces; the administration adds others while the
// server runs.
import { NonceBook } from '../auth/nonces.ts';
import { TrustedDataSources } from '../auth/data-sources.ts';
import type { Clock } from '../base/clock.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { Settings } from './config/settings.ts';

/** Longest lifetime of a token, ms (J-01). After that time, no valid token carries a replaced nonce. */
export const TOKEN_LIFE_MS = 24 * 3_600_000;

/** The trusted data sources and nonces. */
export interface Trust {
  readonly sources: TrustedDataSources;
  readonly nonces: NonceBook;
  /** Asks other servers before a token of unknown source is refused. Set by the administration when servers share a store. */
  refresh?: () => Promise<void>;
}

/** The trust with the data sources of the settings; it can grow. */
export function openTrust(settings: Settings, profile: PlatformProfile, clock: Clock): Trust {
  return { sources: trustedDataSources(settings, profile), nonces: trustedNonces(settings, clock) };
}

/** The data sources of the settings. Without a schema, the profile's schema applies (J-1A). */
function trustedDataSources({ auth }: Settings, { schemas }: PlatformProfile): TrustedDataSources {
  return new TrustedDataSources(
    auth.dataSources.map(({ id, organizationId, url, schemaId, audience, subject, transport }) => ({
      id,
      organizationId,
      url,
      audience,
      subject,
      transport,
      schemaId: schemaId ?? schemas[transport],
    })),
  );
}

/** The current and previous nonces of these data sources (J-05, J-18). */
function trustedNonces({ auth }: Settings, clock: Clock): NonceBook {
  const nonces = new NonceBook({ clock });
  for (const { id, nonce, previousNonce } of auth.dataSources) {
    if (previousNonce !== undefined) nonces.rotate(id, previousNonce);
    nonces.rotate(id, nonce, { previousValidUntilMs: clock.nowMs() + TOKEN_LIFE_MS });
  }
  return nonces;
}
