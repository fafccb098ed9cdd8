// The part of a body that the HTTP header `Range` asks for. Browsers cannot seek in audio whose server ignores this header.

/** The response to the request. */
export interface BodyPart {
  readonly status: 200 | 206 | 416;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** @param range - the header `Range`; the whole body answers anything but one range with a first byte. */
export function bodyPart(whole: Buffer, range = ''): BodyPart {
  const accepting = { 'accept-ranges': 'bytes' };
  const { from, to } = /^bytes=(?<from>\d{1,12})-(?<to>\d{0,12})$/u.exec(range)?.groups ?? {};
  if (from === undefined) return { status: 200, headers: accepting, body: whole };
  const [first, last] = [Number(from), Math.min(to === undefined || to === '' ? Infinity : Number(to), whole.length - 1)];
  const size = String(whole.length);
  if (first > last) return { status: 416, headers: { ...accepting, 'content-range': `bytes */${size}` }, body: Buffer.alloc(0) };
  const headers = { ...accepting, 'content-range': `bytes ${String(first)}-${String(last)}/${size}` };
  return { status: 206, headers, body: whole.subarray(first, last + 1) };
}
