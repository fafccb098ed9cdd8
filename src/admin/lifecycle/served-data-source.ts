// What the token check trusts of one data source: its current values and nonce; during a change also the next ones, because the platform
// may use them before its answer arrives (L-09); and the previous ones, because the platform may use its last token until that token
// expires (J-05).
import type { KnownNonces } from './nonce-journal.ts';
import type { Trust, WantedDataSource } from './ports.ts';
import { areSameValues, valuesOf, type RegisteredValues } from './registered-values.ts';

/** Values that tokens may have, and the id under which the token check knows them. */
interface NamedValues {
  readonly name: string;
  readonly values: RegisteredValues;
}

/** The id of a data source, undefined before registration, and its nonces. */
interface Shown {
  readonly id: string | undefined;
  readonly known: KnownNonces;
}

export class ServedDataSource {
  readonly #wanted: WantedDataSource;
  readonly #trust: Trust;
  #named: NamedValues[] = [];
  /** What is trusted now; undefined: nothing. */
  #shown: Shown | undefined;

  constructor(wanted: WantedDataSource, trust: Trust) {
    this.#wanted = wanted;
    this.#trust = trust;
  }

  /** The served data source; undefined without one. */
  get id(): string | undefined {
    return this.#shown?.id;
  }

  /**
   * Trusts exactly these nonces, each with its own values. Does not affect running calls.
   *
   * @param id - undefined while there is no data source.
   * @throws AppError `overloaded` when there are too many data sources; then nothing has changed.
   */
  show(id: string | undefined, known: KnownNonces): void {
    const before = this.#shown;
    // Synchronous, so no token is refused in between.
    this.drop();
    try {
      this.#fill({ id, known });
    } catch (thrown) {
      this.drop();
      // Cannot fail, because the same entries fitted before.
      if (before !== undefined) this.#fill(before);
      throw thrown;
    }
  }

  #fill(shown: Shown): void {
    const { id, known } = shown;
    const { current, announced, replaced } = known;
    const { nonces } = this.#trust;
    this.#shown = shown;
    if (id !== undefined) this.#trustValues(current?.values ?? valuesOf(this.#wanted), id);
    if (id !== undefined && current !== undefined) nonces.rotate(id, current.nonce);
    const { organizationId, transport } = this.#wanted;
    const beside = `${organizationId}/${transport}`;
    if (announced !== undefined) nonces.expect(this.#trustValues(announced.values, `${beside}/next`), announced.nonce);
    for (const [index, { nonce, values, validUntilMs }] of replaced.entries()) {
      nonces.keep(this.#trustValues(values, `${beside}/previous/${String(index)}`), nonce, validUntilMs);
    }
  }

  /** Trusts nothing any more. */
  drop(): void {
    for (const { name } of this.#named) {
      this.#trust.sources.remove(name);
      this.#trust.nonces.forget(name);
    }
    this.#named = [];
    this.#shown = undefined;
  }

  /** Trusts tokens with these values. @returns the id of the values: `name`, or the existing id of equal values. */
  #trustValues(values: RegisteredValues, name: string): string {
    const known = this.#named.find((one) => areSameValues(one.values, values));
    if (known !== undefined) return known.name;
    const { organizationId, transport } = this.#wanted;
    this.#named.push({ name, values });
    this.#trust.sources.put({ ...values, id: name, organizationId, transport });
    return name;
  }
}
