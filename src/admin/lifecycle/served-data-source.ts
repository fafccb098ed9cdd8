// What the token check believes of one data source: the values and nonce the platform has; beside them, while a change is
// under way, those it will have, because the platform may be faster than its answer (L-09); and those it had, because it may
// go on presenting its last token until that ends (J-05).
import type { KnownNonces } from './nonce-journal.ts';
import type { Trust, WantedDataSource } from './ports.ts';
import { areSameValues, valuesOf, type RegisteredValues } from './registered-values.ts';

/** Values, and the name under which the token check has them. */
interface Place {
  readonly name: string;
  readonly values: RegisteredValues;
}

/** A data source, undefined where there is none yet, and its nonces. */
interface Shown {
  readonly id: string | undefined;
  readonly known: KnownNonces;
}

export class ServedDataSource {
  readonly #wanted: WantedDataSource;
  readonly #trust: Trust;
  #places: Place[] = [];
  /** What is let in. */
  #shown: Shown | undefined;

  constructor(wanted: WantedDataSource, trust: Trust) {
    this.#wanted = wanted;
    this.#trust = trust;
  }

  /** The data source that is served; undefined when none is. */
  get id(): string | undefined {
    return this.#shown?.id;
  }

  /**
   * Lets in these tokens, each nonce with the values of its own time, and no others any more. Calls that came in are not
   * touched.
   *
   * @param id - undefined when there is no data source yet.
   * @throws AppError `overloaded` when there are too many data sources; then all is as it was before.
   */
  show(id: string | undefined, known: KnownNonces): void {
    const before = this.#shown;
    // Nobody is refused in between: no token is checked before this is over.
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
    if (id !== undefined) this.#place(current?.values ?? valuesOf(this.#wanted), id);
    if (id !== undefined && current !== undefined) nonces.rotate(id, current.nonce);
    const { organizationId, transport } = this.#wanted;
    const beside = `${organizationId}/${transport}`;
    if (announced !== undefined) nonces.expect(this.#place(announced.values, `${beside}/next`), announced.nonce);
    for (const [index, { nonce, values, validUntilMs }] of replaced.entries()) {
      nonces.keep(this.#place(values, `${beside}/previous/${String(index)}`), nonce, validUntilMs);
    }
  }

  /** Lets nobody in any more. */
  drop(): void {
    for (const { name } of this.#places) {
      this.#trust.sources.remove(name);
      this.#trust.nonces.forget(name);
    }
    this.#places = [];
    this.#shown = undefined;
  }

  /** Where tokens with these values are let in. @returns its name, which is `name` when there is none yet. */
  #place(values: RegisteredValues, name: string): string {
    const known = this.#places.find((place) => areSameValues(place.values, values));
    if (known !== undefined) return known.name;
    const { organizationId, transport } = this.#wanted;
    this.#places.push({ name, values });
    this.#trust.sources.put({ ...values, id: name, organizationId, transport });
    return name;
  }
}
