// A store whose changes are watched: whether the last one could be written is what a gauge shows and an alarm needs, whoever
// made the change.
import type { SecretStore } from '../admin/secret-store.ts';

/** The same store; `onWritten` gets of every change whether it is on disk. A change that is not goes out with the next one. */
export function watchedStore(store: SecretStore, onWritten: (isWritten: boolean) => void): SecretStore {
  const watched = async (change: Promise<void>): Promise<void> => {
    try {
      await change;
    } catch (thrown) {
      // A text beyond its bounds says nothing about the disk.
      if (!(thrown instanceof RangeError)) onWritten(false);
      throw thrown;
    }
    onWritten(true);
  };
  return {
    get: (key) => store.get(key),
    keys: (prefix) => store.keys(prefix),
    set: (key, value) => watched(store.set(key, value)),
    delete: (key) => watched(store.delete(key)),
  };
}
