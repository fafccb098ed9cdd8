// Stands for a request to a system of yours. A sub-folder without an index module holds what bots share; it is loaded again
// with the bots that import it.

/** The state of an order; undefined when there is none. Stops waiting when the signal aborts. */
export async function orderState(order: string, signal: AbortSignal): Promise<string | undefined> {
  // In earnest: await fetch(`https://orders.example.com/${order}`, { signal })
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  signal.throwIfAborted();
  return order === '4711' ? 'packed and leaves today' : undefined;
}
