// Stands for a calendar of yours that knows each request by a name, so that a request that comes twice books once.

const booked = new Map<string, number>();

/** Books a slot and returns the number of the booking; the same request always returns the same number. */
export async function book(slot: string, request: string): Promise<number> {
  // In earnest: await fetch(`https://calendar.example.com/${slot}`, { method: 'PUT', headers: { 'idempotency-key': request } })
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  const key = `${slot} ${request}`;
  const number = booked.get(key) ?? booked.size + 1;
  booked.set(key, number);
  return number;
}
