// The port to the store of tokens. Implementations seal the texts, which are plain JSON here.

/** Durable texts by key. After `set` has resolved, the text survives the end of the process. */
export interface SecretStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Deletes a text, if there is one. */
  delete(key: string): Promise<void>;
  /** All keys with this prefix. */
  keys(prefix: string): Promise<readonly string[]>;
}
