// The port to the store of tokens. Implementations seal the texts; here they are plain JSON.

/** Durable texts by key. A `set` that has resolved survives the end of the process. */
export interface SecretStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Does nothing without one. */
  delete(key: string): Promise<void>;
  /** All keys with this prefix. */
  keys(prefix: string): Promise<readonly string[]>;
}
