// Faults that tests order, for one route or any, and for a number of requests. This file is only the queue; the server applies the faults.
import type { RouteName } from './route.ts';

export type Fault =
  /** The request is answered with this status and not carried out. */
  | { readonly kind: 'answer'; readonly status: number; readonly message?: string; readonly retryAfterSeconds?: number }
  /** The request is not carried out and gets no answer until one side closes. */
  | { readonly kind: 'hang' }
  /** The connection breaks before the request is carried out. */
  | { readonly kind: 'cut' }
  /** The request is carried out, but the connection breaks before the answer. */
  | { readonly kind: 'lost_answer' }
  /** The request is carried out, but answered with this status. */
  | { readonly kind: 'refused_after_all'; readonly status: number };

export interface PlannedFault {
  readonly route: RouteName | 'any';
  readonly fault: Fault;
  /** Number of requests that the fault will still affect; Infinity: all until `clear`. */
  readonly left: number;
}

type Planned = { -readonly [Key in keyof PlannedFault]: PlannedFault[Key] };

const MAX_PLANNED = 100;

/** Ordered faults that have not happened, in order. */
export class FaultPlan {
  #planned: Planned[] = [];

  /** Orders a fault for the next `times` requests to a route; Infinity: until `clear`. @throws RangeError when 100 faults are waiting. */
  add(route: RouteName | 'any', fault: Fault, times = 1): void {
    if (this.#planned.length >= MAX_PLANNED) throw new RangeError(`at most ${String(MAX_PLANNED)} faults can wait`);
    this.#planned.push({ route, fault, left: times });
  }

  /** The faults that have not happened, in order. */
  get planned(): readonly PlannedFault[] {
    return this.#planned.map((planned) => ({ ...planned }));
  }

  /** Drops the faults that have not happened. */
  clear(): void {
    this.#planned = [];
  }

  take(route: RouteName): Fault | undefined {
    const found = this.#planned.find((planned) => planned.route === route || planned.route === 'any');
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#planned = this.#planned.filter((planned) => planned !== found);
    return found.fault;
  }
}
