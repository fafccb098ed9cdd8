// For values that are usually available at once and sometimes a promise.

/**
 * Goes on with what `work` returns: in the same turn of the event loop, unless it is a promise.
 *
 * @param failed - gets what `work` or `next` throws, and the reason when the promise rejects.
 */
export function settle<T>(work: () => T | Promise<T>, next: (value: T) => void, failed: (thrown: unknown) => void): void {
  try {
    const value = work();
    if (value instanceof Promise) value.then(next).catch(failed);
    else next(value);
  } catch (thrown) {
    failed(thrown);
  }
}
