// The data sources that one process lets in, whoever fills them: while it renews, its keepers do; before and after, what the
// owner has written down (L-10). One object for each, so that nobody is refused while one hands over to the other.
import { journalKey } from './nonce-journal.ts';
import type { Served, Trust, WantedDataSource } from './ports.ts';
import { ServedDataSource } from './served-data-source.ts';

/** The same data sources for one time as the owner. */
export interface OwnedPlaces {
  readonly of: (wanted: WantedDataSource) => Served;
  /** Nothing that is said through these changes anything from now on. */
  end(): void;
}

/** All data sources of one process. */
export class ServedPlaces {
  readonly #trust: Trust;
  readonly #places = new Map<string, ServedDataSource>();

  constructor(trust: Trust) {
    this.#trust = trust;
  }

  /** The one of an organization on a transport. */
  of(wanted: WantedDataSource): ServedDataSource {
    const key = journalKey(wanted);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = new ServedDataSource(wanted, this.#trust);
    this.#places.set(key, place);
    return place;
  }

  /** For keepers that may go on for a moment after another process has taken over. */
  owned(): OwnedPlaces {
    let isOver = false;
    return {
      of: (wanted) => {
        const place = this.of(wanted);
        return {
          get id() {
            return place.id;
          },
          show: (id, known) => {
            if (!isOver) place.show(id, known);
          },
          drop: () => {
            if (!isOver) place.drop();
          },
        };
      },
      end: () => {
        isOver = true;
      },
    };
  }
}
