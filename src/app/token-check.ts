// The token check with the operator's settings: the server has it before its media door, and commands ask it what the
// server would say. Knows nobody who is trusted.
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

/** An open token check. `close` must be called. */
export interface TokenCheck {
  readonly verifier: TokenVerifier;
  /** The key sets that it trusts. */
  readonly keys: KeySource;
  /**
   * From now on keys are also asked for when no token needs them, as long as there are none. To be called once.
   *
   * @param hold - called when no token can be let in; what it returns is called when one can again.
   * @returns resolves when that is known for the first time; never rejects.
   */
  watchKeys(hold: () => () => void): Promise<void>;
  close(): void;
}

/** Opens it; no key set is fetched before a token needs it, or before it is watched. */
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
