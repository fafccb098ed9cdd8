// One server that is measured: a fleet of it alone, from its start to its end, however the measurement goes.
import { Fleet, type FleetOptions } from '../../test/fleet/fleet.ts';
import type { Replica } from '../../test/fleet/replica.ts';

/** Starts a server, lets it be measured, and stops it. */
export async function onLoneServer<Result>(
  options: Omit<FleetOptions, 'replicas'>,
  measure: (fleet: Fleet, replica: Replica) => Promise<Result>,
): Promise<Result> {
  const fleet = await Fleet.start({ ...options, replicas: 1 });
  try {
    const [replica] = fleet.replicas;
    if (replica === undefined) throw new Error('a fleet has a server');
    return await measure(fleet, replica);
  } finally {
    await fleet.close();
  }
}
