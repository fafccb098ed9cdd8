// The nonces of one data source in the durable store, each with the other values of its token, so that tokens from before a restart are
// accepted (L-09, L-15, J-05). Does not know the token check.
import { z } from 'zod';
import type { TokenTransport } from '../../auth/principal.ts';
import type { Clock } from '../../base/clock.ts';
import { toAppError, type AppError } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import type { SecretStore } from '../secret-store.ts';
import { areSameValues, valuesOf, type RegisteredValues } from './registered-values.ts';

/** Prefix of the store keys of all journals; the id of the organization follows. */
export const JOURNALS = 'data-sources/';
const TRANSPORTS: readonly TokenTransport[] = ['grpc', 'websocket'];
/** Longest lifetime of a token, ms (J-01): how long a replaced nonce is accepted when its token's expiry is unknown. */
const TOKEN_LIFE_MS = 24 * 3_600_000;
/**
 * Additional time that a replaced nonce is accepted after its token's expiry, ms: the platform's clock may be behind ours by this much
 * (J-16). The times of each token are checked separately.
 */
const CLOCK_SKEW_MS = 30_000;
/** Most replaced nonces, as many as the nonce book keeps. */
const MAX_REPLACED = 4;

/** Without `values` an older version wrote it; then the configuration's values apply. */
const noncePart = z.strictObject({
  nonce: z.string(),
  values: z.strictObject({ url: z.string(), schemaId: z.string(), audience: z.string(), subject: z.string() }).optional(),
});
const writtenSchema = z.strictObject({
  version: z.literal(1),
  dataSourceId: z.string().optional(),
  /** `validUntilMs` is the expiry of the nonce's token, if known. */
  current: noncePart.extend({ validUntilMs: z.number().optional() }).optional(),
  /** A nonce that was sent to the platform, or is about to be; the outcome is unknown. */
  announced: z.union([noncePart, z.string().transform((nonce): z.output<typeof noncePart> => ({ nonce }))]).optional(),
  replaced: z.array(noncePart.extend({ validUntilMs: z.number() })),
  /** Registrations that were sent; some of their records may still appear. */
  posted: z.strictObject({ nonce: z.string(), lastMs: z.number(), times: z.int() }).optional(),
});
type Written = z.output<typeof writtenSchema>;

/** A nonce and the other values of its token. The platform issues no token that mixes a nonce with values of another one. */
export interface KnownNonce {
  readonly nonce: string;
  readonly values: RegisteredValues;
}

export interface KnownNonces {
  /** The nonce of the current token; undefined when unknown. `validUntilMs`: expiry of the token, from the platform or assumed. */
  readonly current?: (KnownNonce & { readonly validUntilMs?: number | undefined }) | undefined;
  /** A nonce that was sent, with unknown outcome. Sending it again does no harm. */
  readonly announced?: KnownNonce | undefined;
  /** Previous nonces, oldest first, with the time until which they are accepted, ms since the epoch (J-05). */
  readonly replaced: readonly (KnownNonce & { readonly validUntilMs: number })[];
}

/** Registrations with the same nonce, of which at most one record has appeared. */
export interface Posted {
  readonly nonce: string;
  /** When the last registration was sent, ms since the epoch. */
  readonly lastMs: number;
  /** Number of registrations sent, and so of records that may appear. */
  readonly times: number;
}

/** The key of a journal in the store. Each organization (a plain UUID) has a journal for each transport. */
export function journalKey({ organizationId, transport }: { readonly organizationId: string; readonly transport: TokenTransport }): string {
  return `${JOURNALS}${organizationId}/${transport}`;
}

export interface NonceJournalOptions {
  /** The key of this journal in the store. */
  readonly key: string;
  readonly store: Pick<SecretStore, 'get' | 'set' | 'delete'>;
  /** The values for nonces that were stored without values. */
  readonly configured: RegisteredValues;
  readonly clock: Clock;
  /** Called when a change could not be stored. It is kept in memory and lost only by a restart before the next write. */
  readonly onUnsaved: (error: AppError) => void;
}

/** The nonces of one data source. Every change takes effect in memory at once, before it is stored. */
export class NonceJournal {
  readonly #options: NonceJournalOptions;
  #dataSourceId: string | undefined;
  #known: KnownNonces;
  #posted: Posted | undefined;
  /** False when the store lacks a change or the values of a nonce. */
  #isWhole: boolean;

  private constructor(options: NonceJournalOptions, { dataSourceId, current, announced, replaced, posted }: Written) {
    this.#options = options;
    this.#dataSourceId = dataSourceId;
    this.#posted = posted;
    const written = [current, announced, ...replaced].filter((one) => one !== undefined);
    this.#isWhole = written.every(({ values }) => values !== undefined);
    const configured = valuesOf(options.configured);
    this.#known = {
      current: current && { ...current, values: current.values ?? configured },
      announced: announced && { ...announced, values: announced.values ?? configured },
      replaced: replaced.map((one) => ({ ...one, values: one.values ?? configured })),
    };
  }

  /** Reads the stored journal. */
  static async open(options: NonceJournalOptions): Promise<NonceJournal> {
    return new NonceJournal(options, read(await options.store.get(options.key)));
  }

  /** The data source that the nonces belong to; undefined while unknown. */
  get dataSourceId(): string | undefined {
    return this.#dataSourceId;
  }

  /** All nonces except expired ones. */
  get known(): KnownNonces {
    const nowMs = this.#options.clock.nowMs();
    return { ...this.#known, replaced: this.#known.replaced.filter(({ validUntilMs }) => validUntilMs > nowMs) };
  }

  /** Registrations whose records may still appear; undefined when there are none. */
  get posted(): Posted | undefined {
    const isOver = this.#posted === undefined || this.#options.clock.nowMs() >= this.#posted.lastMs + TOKEN_LIFE_MS;
    return isOver ? undefined : this.#posted;
  }

  /** Restores the state before the last registration, which surely had no effect. */
  async unposted(before: Posted | undefined): Promise<void> {
    this.#posted = before;
    await this.#save();
  }

  /**
   * Records a nonce that is about to be sent to the platform, with the values that are sent along.
   *
   * @param isRegistration - whether it is sent by a registration, each of which may create a record.
   * @returns the error when the nonce could not be stored, so that it would be unknown after a restart; otherwise undefined.
   */
  async announce(nonce: string, values: RegisteredValues, isRegistration: boolean): Promise<AppError | undefined> {
    const { announced } = this.#known;
    const next = { nonce, values: valuesOf(values) };
    if (isRegistration) {
      const times = this.posted?.nonce === nonce ? this.posted.times : 0;
      this.#posted = { nonce, lastMs: this.#options.clock.nowMs(), times: times + 1 };
    }
    if (announced !== undefined && isSame(announced, next)) return this.#isWhole && !isRegistration ? undefined : this.#save();
    // The platform may have accepted an earlier attempt with other values.
    const replaced = announced === undefined ? [] : [{ ...announced, validUntilMs: this.#longest }];
    this.#known = { ...this.#known, announced: next, replaced: this.#replaced(replaced, next) };
    return this.#save();
  }

  /**
   * Ends the attempts with the announced nonce.
   *
   * @param isSure - whether the platform surely did not accept it and never will; otherwise it is treated like a replaced nonce.
   */
  async withdraw(isSure: boolean): Promise<void> {
    const { announced } = this.#known;
    if (announced === undefined && this.#isWhole) return;
    const late = announced === undefined || isSure ? [] : [{ ...announced, validUntilMs: this.#longest }];
    // Put first, so that it is dropped first: tokens with the other nonces certainly exist.
    this.#known = { ...this.#known, announced: undefined, replaced: [...late, ...this.known.replaced].slice(-MAX_REPLACED) };
    await this.#save();
  }

  /**
   * Records that the platform has this nonce. The previous nonce, with the values of its tokens, is accepted until its last token expires
   * by the platform's clock.
   *
   * @param validUntilMs - expiry of the nonce's token, ms since the epoch; undefined when the platform does not say.
   */
  async confirm(dataSourceId: string, confirmed: KnownNonce, validUntilMs: number | undefined): Promise<void> {
    const { current, announced } = this.#known;
    const { nonce } = confirmed;
    const isAllThere = this.#posted?.nonce === nonce && this.#posted.times === 1;
    const next = { nonce, values: valuesOf(confirmed.values) };
    const isKnown = current !== undefined && isSame(current, next) && this.#dataSourceId === dataSourceId;
    if (isKnown && current.validUntilMs === validUntilMs && announced?.nonce !== nonce && !isAllThere && this.#isWhole) return;
    const before =
      current === undefined || isSame(current, next)
        ? []
        : [{ nonce: current.nonce, values: current.values, validUntilMs: endOf(current) ?? this.#longest }];
    this.#dataSourceId = dataSourceId;
    if (isAllThere) this.#posted = undefined;
    this.#known = {
      current: validUntilMs === undefined ? next : { ...next, validUntilMs },
      // The platform may have accepted our announced nonce before another one replaced it, so it stays known until the next renewal.
      announced: announced?.nonce === nonce ? undefined : announced,
      replaced: this.#replaced(before, next),
    };
    await this.#save();
  }

  /** Erases all nonces and the id, also in the store. */
  async erase(): Promise<void> {
    this.#dataSourceId = undefined;
    this.#posted = undefined;
    this.#known = { replaced: [] };
    await this.#options.store.delete(this.#options.key);
  }

  /** The previous nonces and then `more`, without `next`, which becomes the current or announced nonce. */
  #replaced(more: KnownNonces['replaced'], next: KnownNonce): KnownNonces['replaced'] {
    return [...this.known.replaced, ...more].filter((one) => !isSame(one, next)).slice(-MAX_REPLACED);
  }

  /** When a token that is issued now has expired by any clock, ms since the epoch. */
  get #longest(): number {
    return this.#options.clock.nowMs() + TOKEN_LIFE_MS + CLOCK_SKEW_MS;
  }

  /** Stores the journal. @returns the error, after {@link NonceJournalOptions.onUnsaved} was called. */
  async #save(): Promise<AppError | undefined> {
    const { store, key, onUnsaved } = this.#options;
    try {
      const what = { dataSourceId: this.#dataSourceId, ...this.#known, replaced: [...this.#known.replaced], posted: this.#posted };
      const written: Written = { version: 1, ...what };
      await store.set(key, JSON.stringify(written));
      this.#isWhole = true;
      return undefined;
    } catch (thrown) {
      this.#isWhole = false;
      const failure = toAppError(thrown, 'store_failed', 'the nonces of a data source cannot be saved');
      onUnsaved(failure);
      return failure;
    }
  }
}

function isSame(one: KnownNonce, other: KnownNonce): boolean {
  return one.nonce === other.nonce && areSameValues(one.values, other.values);
}

/** Until when the current nonce is accepted after a replacement; undefined when the expiry of its token is unknown. */
function endOf({ validUntilMs }: { readonly validUntilMs?: number | undefined }): number | undefined {
  return validUntilMs === undefined ? undefined : validUntilMs + CLOCK_SKEW_MS;
}

/** The id of the data source in a journal, for reading only; undefined when unknown. */
export async function journalledDataSource(store: Pick<SecretStore, 'get'>, key: string): Promise<string | undefined> {
  return read(await store.get(key)).dataSourceId;
}

export interface JournalView {
  readonly transport: TokenTransport;
  /** Undefined when unknown. */
  readonly dataSourceId: string | undefined;
  /** Expiry of the current token, ms since the epoch; undefined when unknown. */
  readonly tokenEndsMs: number | undefined;
  /** Whether a renewal was started and its outcome is unknown. */
  readonly isRenewalOpen: boolean;
}

export async function journalsOf(store: Pick<SecretStore, 'get'>, organizationId: string): Promise<readonly JournalView[]> {
  const views: JournalView[] = [];
  for (const transport of TRANSPORTS) {
    const text = await store.get(journalKey({ organizationId, transport }));
    if (text === undefined) continue;
    const { dataSourceId, current, announced } = read(text);
    views.push({ transport, dataSourceId, tokenEndsMs: current?.validUntilMs, isRenewalOpen: announced !== undefined });
  }
  return views;
}

/** The organization of a journal's key, a plain UUID; undefined for any other key. */
export function organizationOfJournal(key: string): string | undefined {
  return key.startsWith(JOURNALS) ? key.slice(JOURNALS.length).split('/')[0] : undefined;
}

export async function organizationsWithJournals(store: Pick<SecretStore, 'keys'>): Promise<readonly string[]> {
  return (await store.keys(JOURNALS)).flatMap((key) => organizationOfJournal(key) ?? []);
}

function read(text: string | undefined): Written {
  // Another version wrote the text. Start empty: the current nonce comes from the platform's record or the next renewal.
  return writtenSchema.safeParse(parseJson(text ?? '')).data ?? { version: 1, replaced: [] };
}
