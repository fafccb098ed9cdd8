// The token check with the operator's settings, for the server and for commands that explain a token. Trusts no data source by itself.
import { TokenVerifier, type TokenObserver } from '../auth/jws-verifier.ts';
import { KeySource } from '../auth/key-source.ts';
import { KeyWatch } from '../auth/key-watch.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { Settings } from './config/settings.ts';
import type { Trust } from './trust.ts';

export interface TokenCheckParts {
  readonly profile: PlatformProfile;
  readonly trust: Trust;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: TokenObserver;
}

/** An open token check. Call `close`. */
export interface TokenCheck {
  readonly verifier: TokenVerifier;
  /** The key sets that it uses. */
  readonly keys: KeySource;
  /**
   * Fetches keys before the first token needs them, and again while there are none. Call it once.
   *
   * @param hold - called when no token can be verified; the returned function is called when tokens can be verified again.
   * @returns a promise that resolves after the first attempt; never rejects.
   */
  watchKeys(hold: () => () => void): Promise<void>;
  close(): void;
}

/** Opens the token check. Fetches no keys until a token needs one or `watchKeys` is called. */
export function openTokenCheck({ auth, platform }: Pick<Settings, 'auth' | 'platform'>, parts: TokenCheckParts): TokenCheck {
  const { profile, trust, ...common } = parts;
  const { clock, log } = common;
  const { issuers, keySetSuffix, allowLoopbackHttpIssuers, claims } = profile.jws;
  const keys = new KeySource({
    ...{ clock, log, keySetSuffix, ...auth.keySet },
    issuers: [...issuers, ...platform.extraIssuers],
    allowLoopbackHttp: allowLoopbackHttpIssuers,
  });
  const verifier = new TokenVerifier({
    ...{ keys, ...common },
    dataSources: trust.sources,
    nonces: trust.nonces,
    claimNames: { url: claims.url, schema: claims.schema, organization: claims.org },
    clockSkewMs: auth.clockSkewMs,
    rememberedTokens: auth.rememberedTokens,
    refresh: () => trust.refresh?.(),
  });
  let watch: KeyWatch | undefined;
  return {
    ...{ verifier, keys },
    watchKeys: (hold) => {
      watch = new KeyWatch({ keys, hold, clock, log });
      return watch.start();
    },
    close: () => {
      watch?.close();
      keys.close();
    },
  };
}
