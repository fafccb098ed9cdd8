// Decorates a store: reports whether the last change could be written, for a gauge and an alarm.
import type { SecretStore } from '../admin/secret-store.ts';

/** The same store; `onWritten` gets the outcome of every change. A failed change is written again with the next one. */
export function watchedStore(store: SecretStore, onWritten: (isWritten: boolean) => void): SecretStore {
  const watched = async (change: Promise<void>): Promise<void> => {
    try {
      await change;
    } catch (thrown) {
      // A text that is too long says nothing about the disk.
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
