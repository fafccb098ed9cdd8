// The nonces of one data source, in the book of the token check and in the durable store at once: a restart must not
// refuse a token that was good before it (L-09, L-15, J-05).
import { z } from 'zod';
import type { NonceBook } from '../../auth/nonces.ts';
import type { Clock } from '../../base/clock.ts';
import { toAppError, type AppError } from '../../base/errors.ts';
import type { SecretStore } from '../secret-store.ts';

/** Longest life of a token, ms (J-01): how long a replaced nonce is accepted when its token's end is not known. */
const TOKEN_LIFE_MS = 24 * 3_600_000;
/** Replaced nonces kept; the book keeps as many. */
const MAX_REPLACED = 4;

const writtenSchema = z.strictObject({
  version: z.literal(1),
  dataSourceId: z.string().optional(),
  /** `validUntilMs` is the end of its token where it is known. */
  current: z.strictObject({ nonce: z.string(), validUntilMs: z.number().optional() }).optional(),
  /** Told to the platform, or about to be; nobody knows yet whether it took it. */
  announced: z.string().optional(),
  replaced: z.array(z.strictObject({ nonce: z.string(), validUntilMs: z.number() })),
});
type Written = z.infer<typeof writtenSchema>;

/** What a journal is made with. */
export interface NonceJournalOptions {
  /** Its name in the store. */
  readonly key: string;
  readonly store: SecretStore;
  readonly nonces: NonceBook;
  readonly clock: Clock;
  /** A change could not be written. It holds in memory; only a restart before the next write would forget it. */
  readonly onUnsaved: (error: AppError) => void;
}

/** The nonces of one data source. Its owner publishes the data source itself. */
export class NonceJournal {
  readonly #options: NonceJournalOptions;
  #written: Written;

  private constructor(options: NonceJournalOptions, written: Written) {
    this.#options = options;
    this.#written = written;
  }

  /** Reads what was written before; the book learns of it in {@link NonceJournal.serve}. */
  static async open(options: NonceJournalOptions): Promise<NonceJournal> {
    return new NonceJournal(options, read(await options.store.get(options.key)));
  }

  /** The data source that the nonces belong to, once it is known. */
  get dataSourceId(): string | undefined {
    return this.#written.dataSourceId;
  }

  /** The nonce of the current token; undefined when it is not known. */
  get current(): string | undefined {
    return this.#written.current?.nonce;
  }

  /** End of its token, ms since the epoch, as far as the platform told or we assumed. */
  get currentValidUntilMs(): number | undefined {
    return this.#written.current?.validUntilMs;
  }

  /** A nonce that was sent and whose fate is not known: sending the same again changes nothing twice. */
  get announced(): string | undefined {
    return this.#written.announced;
  }

  /** Puts all known nonces into the book under the id of the data source. */
  serve(dataSourceId: string): void {
    const { nonces, clock } = this.#options;
    const { current, announced, replaced } = this.#written;
    nonces.forget(dataSourceId);
    const nowMs = clock.nowMs();
    for (const [index, { nonce }] of replaced.entries()) {
      const before = replaced[index - 1];
      nonces.rotate(dataSourceId, nonce, { previousValidUntilMs: before?.validUntilMs ?? nowMs });
    }
    if (current !== undefined) nonces.rotate(dataSourceId, current.nonce, { previousValidUntilMs: replaced.at(-1)?.validUntilMs ?? nowMs });
    if (announced !== undefined) nonces.expect(dataSourceId, announced);
    if (this.#written.dataSourceId !== dataSourceId) this.#written = { ...this.#written, dataSourceId };
  }

  /** Remembers a nonce that the platform is about to be told. Resolves when a restart would know it. */
  async announce(nonce: string): Promise<void> {
    if (this.#written.announced === nonce) return;
    this.#written = { ...this.#written, announced: nonce };
    if (this.dataSourceId !== undefined) this.#options.nonces.expect(this.dataSourceId, nonce);
    await this.#save();
  }

  /** The platform surely did not take the announced nonce. */
  async withdraw(): Promise<void> {
    const { announced, ...rest } = this.#written;
    if (announced === undefined) return;
    this.#written = rest;
    if (this.dataSourceId !== undefined) this.#options.nonces.withdraw(this.dataSourceId, announced);
    await this.#save();
  }

  /**
   * The platform has this nonce: the one before is accepted until its last token ends.
   *
   * @param validUntilMs - end of the nonce's token, ms since the epoch; undefined when the platform does not say.
   */
  async confirm(dataSourceId: string, nonce: string, validUntilMs: number | undefined): Promise<void> {
    const { current, announced, replaced } = this.#written;
    const isSame = current?.nonce === nonce && this.dataSourceId === dataSourceId;
    if (isSame && current.validUntilMs === validUntilMs && announced !== nonce) return;
    const nowMs = this.#options.clock.nowMs();
    const before =
      current === undefined || current.nonce === nonce
        ? []
        : [{ nonce: current.nonce, validUntilMs: current.validUntilMs ?? nowMs + TOKEN_LIFE_MS }];
    this.#written = {
      version: 1,
      dataSourceId,
      current: validUntilMs === undefined ? { nonce } : { nonce, validUntilMs },
      // A nonce of ours that somebody else overtook may still have been taken: it stays known until the next renewal.
      ...(announced === undefined || announced === nonce ? {} : { announced }),
      replaced: [...replaced, ...before].filter((known) => known.nonce !== nonce && known.validUntilMs > nowMs).slice(-MAX_REPLACED),
    };
    this.serve(dataSourceId);
    await this.#save();
  }

  /** Forgets everything, here and in the book. */
  async erase(): Promise<void> {
    if (this.dataSourceId !== undefined) this.#options.nonces.forget(this.dataSourceId);
    this.#written = { version: 1, replaced: [] };
    await this.#options.store.delete(this.#options.key);
  }

  async #save(): Promise<void> {
    const { store, key, onUnsaved } = this.#options;
    try {
      await store.set(key, JSON.stringify(this.#written));
    } catch (thrown) {
      onUnsaved(toAppError(thrown, 'store_failed', 'the nonces of a data source cannot be saved'));
    }
  }
}

function read(text: string | undefined): Written {
  const nothing: Written = { version: 1, replaced: [] };
  if (text === undefined) return nothing;
  try {
    return writtenSchema.parse(JSON.parse(text));
  } catch {
    // Written by another version: the platform's record has the current nonce, or the next renewal makes one.
    return nothing;
  }
}
