// Encrypts secrets in a store with AES-256-GCM: a text that was changed, or belongs to another owner, does not open. Knows neither
// snapshots nor the origin of its keys.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { AppError } from '../base/errors.ts';

const ALGORITHM = 'aes-256-gcm';
/** Bytes of the key, the nonce and the authentication tag. */
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Most keys: the current one and a few previous ones. */
const MAX_KEYS = 5;
/** Prefix of every sealed text, to distinguish later formats. */
const FORM = 'v1.';

/** Seals texts with one key and opens them with several, so that keys can be rotated. */
export class Seal {
  /** The first one seals. */
  #keys: readonly [Buffer, ...Buffer[]];

  /**
   * @param keys - at most five of 32 bytes: the first one seals, all of them open. Without any, a random key: sealed texts then open in
   * this process only.
   * @throws TypeError for invalid keys.
   */
  constructor(...keys: readonly Buffer[]) {
    const [first = randomBytes(KEY_BYTES), ...others] = keys;
    this.#keys = checked([first, ...others]);
  }

  /**
   * Seals with the first of these keys from now on. Replaced keys still open texts, up to five keys in all, the latest first: their texts
   * are still in use, and other servers may not know of the change yet.
   *
   * @returns whether the keys have changed.
   * @throws TypeError for invalid keys, and without any key; then nothing is changed.
   */
  renew(...keys: readonly Buffer[]): boolean {
    const [first, ...others] = keys;
    if (first === undefined) throw new TypeError('a seal has a key');
    const wanted = checked([first, ...others]);
    if (wanted.every((key, index) => this.#keys[index]?.equals(key))) return false;
    const replaced = this.#keys.filter((known) => !wanted.some((key) => key.equals(known)));
    this.#keys = [first, ...[...others, ...replaced].slice(0, MAX_KEYS - 1)];
    return true;
  }

  /** @param owner - what the text belongs to; it opens only for the same owner. */
  close(text: string, owner: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#keys[0], iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(owner));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return FORM + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** @throws AppError `internal` when the text was sealed with an unknown key or for another owner, or was changed since then. */
  open(sealed: string, owner: string): string {
    const bytes = Buffer.from(sealed.slice(FORM.length), 'base64');
    let failure: unknown;
    for (const key of this.#keys) {
      try {
        return opened(bytes, owner, key);
      } catch (thrown) {
        failure ??= thrown;
      }
    }
    throw new AppError('internal', 'a sealed state does not open: it was sealed with another key or changed', { cause: failure });
  }
}

function checked(keys: readonly [Buffer, ...Buffer[]]): readonly [Buffer, ...Buffer[]] {
  if (keys.some(({ length }) => length !== KEY_BYTES)) throw new TypeError(`the key of a seal has ${String(KEY_BYTES)} bytes`);
  if (keys.length > MAX_KEYS) throw new TypeError(`a seal has at most ${String(MAX_KEYS)} keys`);
  return keys;
}

function opened(bytes: Buffer, owner: string, key: Buffer): string {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}
