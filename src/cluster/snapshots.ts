// What the engine asks of a call's home: to keep snapshots, and to let a call go. Never looks into a snapshot.
import type { JsonObject } from '../base/json.ts';
import type { CallKey } from '../dialog/call.ts';

/** What survives the home of a call, as plain JSON. */
export type Snapshot = JsonObject;

/** Where the snapshots of the calls that live here are written, so that another process can go on with them. */
export interface Snapshots {
  /** Writes the newest snapshot of a call; one that waits is replaced. Returns at once, never throws; retried while the directory is away. */
  save(call: CallKey, snapshot: Snapshot): void;
  /** The call may live elsewhere from now on; what was saved before is kept when `snapshot` is left out. Never rejects, bounded. */
  release(call: CallKey, snapshot?: Snapshot): Promise<void>;
  /** The call is over: for a while later turns get no prompts anywhere (G-7C). Returns at once, never throws. */
  forget(call: CallKey): void;
}
