// Opens everything that decides who may connect: certificates, trusted data sources, the token check, and the administration.
import type { AuthorizationHook } from '../admin/webhooks/authorization-result.ts';
import type { RefusalReason } from '../auth/refusal.ts';
import type { TokenVerifier } from '../auth/jws-verifier.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { WatchedFiles } from '../base/watched-files.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { NotReadyReason, Readiness } from '../ops/readiness.ts';
import type { Watched } from '../telemetry/file-metrics.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { startAdministration } from './administration.ts';
import { followNonces, followSealKeys } from './changing-secrets.ts';
import type { ChangingSettings } from './config/changing-settings.ts';
import type { Settings } from './config/settings.ts';
import type { ProcessParts } from './process-parts.ts';
import { openServerTls, type ServerTls } from './server-tls.ts';
import { openTokenCheck } from './token-check.ts';
import { openTrust, type Trust } from './trust.ts';

/** Why a server that can verify no token is not ready; the same word as in refusals. */
const NO_KEYS = 'keys_unavailable' satisfies RefusalReason & NotReadyReason;
/** Why a server without a login is not ready; the code of the login's errors. */
const NO_LOGIN = 'login_needed' satisfies ErrorCode & NotReadyReason;

export interface TrustedParts extends ProcessParts {
  readonly profile: PlatformProfile;
  readonly files: WatchedFiles<Watched>;
  readonly readiness: Readiness;
  readonly changing: ChangingSettings | undefined;
  readonly onAuthorization: AuthorizationHook | undefined;
  readonly metrics: Pick<Metrics, 'files' | 'tokens' | 'admin'>;
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

export interface Trusted {
  readonly tls: ServerTls;
  readonly trust: Trust;
  /** Undefined when tokens are not checked. */
  readonly verifier: TokenVerifier | undefined;
  /** Resolves after the first attempt to fetch the platform's keys; undefined when tokens are not checked. */
  readonly keysAnswered: Promise<unknown> | undefined;
  readonly administration: Awaited<ReturnType<typeof startAdministration>> | undefined;
}

/** Call this before calls can come in: tokens from before a restart must be trusted. @throws AppError as `createApp`. */
export async function openTrusted(settings: Settings, parts: TrustedParts): Promise<Trusted> {
  const { profile, files, readiness, changing, onAuthorization, metrics, clock, log, lifecycle, signal } = parts;
  const tls = await openServerTls(settings, { profile, files, metrics: metrics.files, clock, log });
  const trust = openTrust(settings, profile, clock);
  if (changing !== undefined) followNonces(files, changing.dataSources, { nonces: trust.nonces, first: settings.auth.dataSources, clock });
  const check = settings.auth.enabled ? openTokenCheck(settings, { profile, trust, clock, log, observer: metrics.tokens }) : undefined;
  lifecycle.opened('token check', () => check?.close());
  // Runs in parallel with the rest of the start.
  const keysAnswered = check?.watchKeys(() => readiness.hold(NO_KEYS));
  const administration = settings.admin.enabled
    ? await startAdministration(settings, {
        ...{ profile, trust, identity: tls.identity, metrics: metrics.admin, clock, log, lifecycle, signal, onAuthorization },
        holdForLogin: () => readiness.hold(NO_LOGIN),
        followKeys: (seal, rewrite) => {
          if (changing !== undefined) followSealKeys(files, 'admin_store_keys', changing.adminStoreKeys, seal, rewrite);
        },
      })
    : undefined;
  return { tls, trust, verifier: check?.verifier, keysAnswered, administration };
}
