// The whole fake platform: its administration API and the issuer of its tokens, started and closed together.
// The commands that run a platform decide which events they print, and how.
import { loadProfile } from '../../platform/profile.ts';
import { startAdminApi, type AdminApi } from '../../platform/admin-api.ts';
import { startIssuer, type Issuer, type IssuerRequest } from '../../platform/issuer.ts';
import type { PlatformObserver } from '../../platform/platform.ts';

export interface PlatformOptions {
  /** Port of the administration API; 0 takes a free one. */
  readonly port: number;
  /** Where browsers return after a login. */
  readonly redirectUri: string;
  /** See {@link startAdminApi}. */
  readonly controlKey?: string;
  readonly observer?: PlatformObserver;
  /** Called for each request for the issuer's keys; must not throw. */
  readonly onKeysAsked?: (request: IssuerRequest) => void;
}

/** A running fake platform. `close` must be called. */
export interface FakePlatform {
  readonly api: AdminApi;
  readonly issuer: Issuer;
  close(): Promise<void>;
}

/** Starts a fake platform on loopback. @throws AppError `listen_failed` when the port is taken. */
export async function startPlatform(options: PlatformOptions): Promise<FakePlatform> {
  const { port, redirectUri, controlKey, observer, onKeysAsked } = options;
  const profile = loadProfile('fake');
  const issuer = await startIssuer({ profile, ...(onKeysAsked === undefined ? {} : { onRequest: onKeysAsked }) });
  try {
    const api = await startAdminApi({
      ...{ profile, issuer, port },
      integration: { redirectUris: [redirectUri] },
      ...(controlKey === undefined ? {} : { controlKey }),
      ...(observer === undefined ? {} : { observer }),
    });
    return {
      ...{ api, issuer },
      close: async () => {
        await api.close();
        await issuer.close();
      },
    };
  } catch (thrown) {
    await issuer.close();
    throw thrown;
  }
}
