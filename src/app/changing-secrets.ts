// Rotates keys and nonces when their files change while the server runs. A replaced value stays valid for a while, because other processes
// may still use it.
import type { NonceBook } from '../auth/nonces.ts';
import type { Clock } from '../base/clock.ts';
import type { WatchedFiles } from '../base/watched-files.ts';
import type { OpsServer } from '../ops/http-server.ts';
import type { Seal } from '../store/seal.ts';
import type { Watched } from '../telemetry/file-metrics.ts';
import type { ChangingSetting, ChangingSettings } from './config/changing-settings.ts';
import type { Settings } from './config/settings.ts';
import { TOKEN_LIFE_MS } from './trust.ts';

/** The keys of a seal from validated settings. */
export function sealKeys(keys: readonly string[]): readonly Buffer[] {
  return keys.map((key) => Buffer.from(key, 'hex'));
}

/**
 * Gives a seal the keys from changed files; from then on the first key seals.
 *
 * @param onChange - called after each change.
 */
export function followSealKeys(
  files: WatchedFiles<Watched>,
  what: Extract<Watched, 'store_keys' | 'admin_store_keys'>,
  setting: ChangingSetting<readonly string[]>,
  seal: Seal,
  onChange: () => void = () => undefined,
): void {
  const take = (contents: readonly Buffer[]): boolean => {
    const isChanged = seal.renew(...sealKeys(setting.read(contents)));
    if (isChanged) onChange();
    return isChanged;
  };
  files.follow({ what, files: setting.files, code: 'config_invalid', take });
}

/** Rotates nonces of the settings when their files change. Previous nonces stay valid for the lifetime of a token (J-05). */
export function followNonces(
  files: WatchedFiles<Watched>,
  setting: ChangingSetting<Settings['auth']['dataSources']>,
  { nonces, first, clock }: { readonly nonces: NonceBook; readonly first: Settings['auth']['dataSources']; readonly clock: Clock },
): void {
  let known = first;
  const take = (contents: readonly Buffer[]): boolean => {
    const next = setting.read(contents);
    const validUntilMs = clock.nowMs() + TOKEN_LIFE_MS;
    let isChanged = false;
    for (const [index, { id, nonce, previousNonce }] of next.entries()) {
      const before = known[index];
      if (nonce !== before?.nonce) {
        nonces.rotate(id, nonce, { previousValidUntilMs: validUntilMs });
        isChanged = true;
      }
      if (previousNonce !== undefined && previousNonce !== before?.previousNonce) {
        nonces.keep(id, previousNonce, validUntilMs);
        isChanged = true;
      }
    }
    known = next;
    return isChanged;
  };
  files.follow({ what: 'data_source_nonces', files: setting.files, code: 'config_invalid', take });
}

/** Gives the operations server changed secrets of the console. */
export function followConsole(
  files: WatchedFiles<Watched>,
  { viewToken, listenToken, proxyKey }: Pick<ChangingSettings, 'viewToken' | 'listenToken' | 'proxyKey'>,
  server: Pick<OpsServer, 'renew'>,
): void {
  const all = [...new Set([viewToken, listenToken, proxyKey].flatMap((setting) => setting.files))];
  const take = (contents: readonly Buffer[]): boolean => {
    const read = <T>(setting: ChangingSetting<T>): T => setting.read(setting.files.flatMap((file) => contents[all.indexOf(file)] ?? []));
    return server.renew({ viewToken: read(viewToken), listenToken: read(listenToken), proxyKey: read(proxyKey) });
  };
  files.follow({ what: 'console_secrets', files: all, code: 'config_invalid', take });
}
