// What the platform has granted to kept tokens, where it said so. Asks nobody.
import { parseJson } from '../base/json.ts';
import type { SecretStore } from './secret-store.ts';
import { oauthTokens } from './tokens.ts';

/** Scopes of the pair at `key`; undefined when none is kept or the platform did not say. */
export async function grantedScopes(store: Pick<SecretStore, 'get'>, key: string): Promise<readonly string[] | undefined> {
  return oauthTokens.safeParse(parseJson((await store.get(key)) ?? '')).data?.scopes;
}
