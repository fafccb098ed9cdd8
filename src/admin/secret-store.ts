// The port to where tokens are kept between two runs. What implements it seals them; here they are plain JSON.

/** Durable texts by key. A `set` that has resolved survives the end of the process. */
export interface SecretStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Does nothing when there is none. */
  delete(key: string): Promise<void>;
  /** All keys that begin with `prefix`. */
  keys(prefix: string): Promise<readonly string[]>;
}
