// The data sources that one organization must have: the common ones, with the exceptions for this organization. Reads no settings and sends
// no request.
import type { WantedDataSource } from './ports.ts';

/** The data sources that every organization must have, and the pinned ones. */
export interface WantedEverywhere {
  readonly wanted: readonly Omit<WantedDataSource, 'organizationId' | 'applicationId' | 'pinnedId'>[];
  /** Ids of the only data sources that may be used (L-02). */
  readonly pinned: readonly Required<Pick<WantedDataSource, 'organizationId' | 'transport' | 'pinnedId'>>[];
  /** Client id of our app; undefined without one (L-11). */
  readonly applicationId: string | undefined;
}

/** @param organizationId - a plain UUID. */
export function wantedIn(organizationId: string, { wanted, pinned, applicationId }: WantedEverywhere): readonly WantedDataSource[] {
  return wanted.map((one) => {
    const pin = pinned.find((each) => each.organizationId === organizationId && each.transport === one.transport);
    return { ...one, organizationId, applicationId, pinnedId: pin?.pinnedId };
  });
}
