// The table of instances in memory, for processes of one test that share it.
import { callId } from '../../src/dialog/call.ts';
import type { InstanceTable, ReadInstance, Reading, TakenCall } from '../../src/cluster/instance-table.ts';

/** Bounded by the instances that beat, and by their calls. */
export class MemoryInstances implements InstanceTable {
  readonly #instances = new Map<string, ReadInstance>();
  /** By instance and call. */
  readonly #inboxes = new Map<string, Map<string, TakenCall>>();

  beat(entry: ReadInstance, heard: readonly TakenCall[]): Promise<Reading> {
    const { id } = entry;
    const isNew = !this.#instances.has(id);
    this.#instances.set(id, entry);
    const inbox = this.#inboxes.get(id);
    for (const { call, epoch } of heard) if (inbox?.get(callId(call))?.epoch === epoch) inbox.delete(callId(call));
    return Promise.resolve({ instances: [...this.#instances.values()], taken: [...(inbox?.values() ?? [])], isNew });
  }

  notify(id: string, taken: TakenCall): Promise<void> {
    const inbox = this.#inboxes.get(id) ?? new Map<string, TakenCall>();
    // Whoever is not there any more reads nothing.
    if (this.#instances.has(id)) this.#inboxes.set(id, inbox.set(callId(taken.call), taken));
    return Promise.resolve();
  }

  remove({ id, counter }: Pick<ReadInstance, 'id' | 'counter'>): Promise<void> {
    if (this.#instances.get(id)?.counter === counter) {
      this.#instances.delete(id);
      this.#inboxes.delete(id);
    }
    return Promise.resolve();
  }
}
