// The surroundings of a server that looks after its data sources itself, for one test: gone when the test ends.
import { onTestFinished } from 'vitest';
import { openSurroundings, type AdminSurroundings, type SurroundingsOptions } from './open-surroundings.ts';

export type { AdminSurroundings } from './open-surroundings.ts';

/** Starts them. */
export async function adminSurroundings(options: SurroundingsOptions = {}): Promise<AdminSurroundings> {
  const around = await openSurroundings(options);
  onTestFinished(() => around.close());
  return around;
}
