// Remembers drift that a change cannot repair: a platform may accept a change but leave a member as it was. Without this, every
// check would repeat the change, each time with a new nonce. Pure comparison.
import type { DataSource } from '../records.ts';
import { driftOf } from './match.ts';
import type { WantedDataSource } from './ports.ts';

/** The drift of one data source that remained after our last change. */
export class LastingDrift {
  #left: string | undefined;

  /** Whether the record still has the drift that our last change left, so that the same change would repair nothing. */
  isOf(record: DataSource, wanted: WantedDataSource): boolean {
    const drift = driftOf(record, wanted);
    // After a record without drift, the same drift would be new.
    if (drift.length === 0) this.#left = undefined;
    return drift.length > 0 && spelled(record, drift) === this.#left;
  }

  /**
   * Remembers the answer to a change.
   *
   * @param before - the record before the change; for a new record, the answer.
   * @returns the wanted members that differ in the answer. Members that the answer lacks are seen in the next check.
   */
  after(before: DataSource, answer: DataSource, wanted: WantedDataSource): readonly string[] {
    const seen = driftOf(answer, wanted);
    const open = driftOf(before, wanted).filter((member) => !isReported(answer, member));
    const whole: DataSource = { ...before, ...Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined)) };
    this.#left = seen.length + open.length > 0 ? spelled(whole, driftOf(whole, wanted)) : undefined;
    return seen;
  }
}

function isReported(record: DataSource, member: string): boolean {
  return Object.entries(record).some(([name, value]) => name === member && value !== undefined);
}

/** The drift with its values as text, for comparison. */
function spelled(record: DataSource, drift: readonly string[]): string {
  const values = Object.entries(record).filter(([name]) => drift.includes(name));
  return JSON.stringify([record.id, ...values.sort(([one], [other]) => (one < other ? -1 : 1))]);
}
