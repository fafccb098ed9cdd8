// The data sources that one organization is to have: those of every organization, with what is said of this one alone.
// Reads no settings and asks nobody.
import type { WantedDataSource } from './ports.ts';

/** What is wanted in every organization alike, and the exceptions. */
export interface WantedEverywhere {
  readonly wanted: readonly Omit<WantedDataSource, 'organizationId' | 'applicationId' | 'pinnedId'>[];
  /** Data sources that must be used and no others (L-02). */
  readonly pinned: readonly Required<Pick<WantedDataSource, 'organizationId' | 'transport' | 'pinnedId'>>[];
  /** Client id of our app; undefined where there is none (L-11). */
  readonly applicationId: string | undefined;
}

/** @param organizationId - a plain UUID. */
export function wantedIn(organizationId: string, { wanted, pinned, applicationId }: WantedEverywhere): readonly WantedDataSource[] {
  return wanted.map((one) => {
    const pin = pinned.find((each) => each.organizationId === organizationId && each.transport === one.transport);
    return { ...one, organizationId, applicationId, pinnedId: pin?.pinnedId };
  });
}
