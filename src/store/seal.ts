// Encrypts what must not lie open in a store. AES-256-GCM: whatever was changed, or belongs to another call, does not
// open. Knows neither records nor where its key comes from.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { AppError } from '../base/errors.ts';

const ALGORITHM = 'aes-256-gcm';
/** Bytes of key, of the number used once, and of the proof that nothing was changed. */
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Stands before every sealed text, so that another form can be told from it one day. */
const FORM = 'v1.';

/** Seals and opens texts with one key. */
export class Seal {
  readonly #key: Buffer;

  /** @param key - 32 bytes; default: made now, so that what is sealed opens in this process only. */
  constructor(key: Buffer = randomBytes(KEY_BYTES)) {
    if (key.length !== KEY_BYTES) throw new TypeError(`the key of a seal has ${String(KEY_BYTES)} bytes`);
    this.#key = key;
  }

  /** @param owner - what the text belongs to; it opens only for the same. */
  close(text: string, owner: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(owner));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return FORM + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** @throws AppError `internal` when it was sealed with another key, for another owner, or changed since. */
  open(sealed: string, owner: string): string {
    const bytes = Buffer.from(sealed.slice(FORM.length), 'base64');
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new AppError('internal', 'a sealed state does not open: it was sealed with another key or changed', { cause });
    }
  }
}
