import { MemoryInstances } from '../../support/memory-instances.ts';
import { instancesSuite } from '../../suites/instances.ts';

instancesSuite('instances with a table in memory', () => {
  let table = new MemoryInstances();
  return {
    view: () => ({
      beat: (entry, heard) => table.beat(entry, heard),
      notify: (id, taken) => table.notify(id, taken),
      remove: (gone) => table.remove(gone),
    }),
    lose: () => {
      table = new MemoryInstances();
      return Promise.resolve();
    },
  };
});
