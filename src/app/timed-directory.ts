// Decorates the call directory and the instance table: times and counts each operation.
import type { CallDirectory } from '../cluster/call-directory.ts';
import type { InstanceTable } from '../cluster/instance-table.ts';
import type { StoreMetrics } from '../telemetry/store-metrics.ts';

/** The same directory, timed. */
export function timedDirectory(directory: CallDirectory, { time }: Pick<StoreMetrics, 'time'>): CallDirectory {
  return {
    claim: (call, request) => time('claim', directory.claim(call, request)),
    find: (call) => time('find', directory.find(call)),
    save: (call, saved) => time('save', directory.save(call, saved)),
    register: (call, late) => time('register', directory.register(call, late)),
    forget: (call, ownership) => time('forget', directory.forget(call, ownership)),
    touch: (call) => time('touch', directory.touch(call)),
  };
}

/** The same table, with timed beats. */
export function timedTable(table: InstanceTable, { time }: Pick<StoreMetrics, 'time'>): InstanceTable {
  return {
    beat: (entry, heard) => time('beat', table.beat(entry, heard)),
    notify: (id, taken) => table.notify(id, taken),
    remove: (gone) => table.remove(gone),
  };
}
