// What the token check trusts of one data source: its current values and nonce; during a change also the future ones, because the
// platform may be faster than its answer (L-09); and the previous ones, because the platform may use its last token until that
// expires (J-05).
import type { KnownNonces } from './nonce-journal.ts';
import type { Trust, WantedDataSource } from './ports.ts';
import { areSameValues, valuesOf, type RegisteredValues } from './registered-values.ts';

/** Values that tokens may carry, and their name in the token check. */
interface NamedValues {
  readonly name: string;
  readonly values: RegisteredValues;
}

/** A data source, undefined while there is none, and its nonces. */
interface Shown {
  readonly id: string | undefined;
  readonly known: KnownNonces;
}

export class ServedDataSource {
  readonly #wanted: WantedDataSource;
  readonly #trust: Trust;
  #named: NamedValues[] = [];
  /** The trusted values. */
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
   * Trusts these tokens, each nonce with the values of its own time, and no others. Does not affect running
   * calls.
   *
   * @param id - undefined when there is no data source yet.
   * @throws AppError `overloaded` when there are too many data sources; then nothing has changed.
   */
  show(id: string | undefined, known: KnownNonces): void {
    const before = this.#shown;
    // Nobody is refused in between: this code is synchronous.
    this.drop();
    try {
      this.#fill({ id, known });
    } catch (thrown) {
      this.drop();
      // There was room for it a moment ago.
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

  /** Trusts tokens with these values. @returns the name of the values: `name`, or the earlier one of known values. */
  #trustValues(values: RegisteredValues, name: string): string {
    const known = this.#named.find((one) => areSameValues(one.values, values));
    if (known !== undefined) return known.name;
    const { organizationId, transport } = this.#wanted;
    this.#named.push({ name, values });
    this.#trust.sources.put({ ...values, id: name, organizationId, transport });
    return name;
  }
}
