// Why a WebSocket broke, as a named finding: from its handshake, its close code, or the error that a server sends before it closes (W-43,
// W-44). Knows nothing about calls.
import { oneLine } from '../../../base/one-line.ts';
import { CLOSE_CODE, type SocketErrorCode } from '../../../contract/envelope.ts';
import { failureOfWords, type Failure } from '../failure.ts';
import type { FindingCode } from '../../caller/finding.ts';

/** Most characters that are quoted of a server's text. */
const MAX_WORDS = 300;

const BY_UPGRADE: ReadonlyMap<number, readonly [FindingCode, string]> = new Map([
  [401, ['unauthenticated', 'the server refused the token']],
  [403, ['forbidden', 'the server does not let this token speak for this organization']],
  [404, ['not_served', 'the server does not serve this path']],
  [429, ['overloaded', 'the server has no room for this call']],
  // A server that stops answers the same, and so does a proxy whose server is gone.
  [503, ['overloaded', 'the server has no room for this call, or is stopping']],
]);

const BY_ERROR: Readonly<Partial<Record<SocketErrorCode, readonly [FindingCode, string]>>> = {
  unauthorized: ['unauthenticated', 'the server refused the token'],
  rate_limit: ['overloaded', 'the server has no room for this call'],
};

const BY_CLOSE: ReadonlyMap<number, readonly [FindingCode, string]> = new Map([
  [CLOSE_CODE.normal, ['closed_early', 'the server closed the socket in the middle of the call']],
  [CLOSE_CODE.goingAway, ['closed_early', 'the server went away']],
  [CLOSE_CODE.overloaded, ['overloaded', 'the server has no room for this call']],
  // The library's own numbers: 1005 without a code in the close frame, 1006 without a close frame.
  [1005, ['closed_early', 'the server closed the socket without a code']],
  [1006, ['closed_early', 'the connection was closed without a word']],
]);

export interface ErrorWords {
  readonly code: string;
  readonly status: number;
  readonly detail?: string | null | undefined;
}

/** Properties of the upgrade request that may explain why it was refused. */
export interface AskedUpgrade {
  readonly path: string;
  readonly hasToken: boolean;
}

/** Names the failure of a handshake that was answered with another HTTP status than 101 (W-06, W-07). */
export function failureOfUpgrade(status: number, asked?: AskedUpgrade): Failure {
  const isBetween = (status >= 300 && status < 400) || status === 502 || status === 504;
  const other = isBetween ? 'something before the server answered, and not the server' : 'the server does not speak WebSocket here';
  const [code, text] = BY_UPGRADE.get(status) ?? ['garbage', other];
  return { code, message: `${upgradeText(status, asked) ?? text} (HTTP status ${String(status)})` };
}

function upgradeText(status: number, asked: AskedUpgrade | undefined): string | undefined {
  if (status === 401 && asked?.hasToken === false) return 'the server asks for a token, and none was given';
  if (status !== 404 || asked === undefined) return undefined;
  return `the server does not serve ${asked.path}; where its paths begin with a prefix, write it behind the address, as in wss://host/prefix`;
}

/** How the connection was dialled, and the answer that could not be read. */
export interface TriedConnection {
  readonly isSecure: boolean;
  readonly unread?: Uint8Array | undefined;
}

/** Names the failure of a connection that ended with an error of Node. */
export function failureOfConnection(words: string, tried?: TriedConnection): Failure {
  const misdialled = tried === undefined ? undefined : misdialledFailure(words, tried);
  if (misdialled !== undefined) return misdialled;
  const known = failureOfWords(words);
  const [code, text] = known ?? ['garbage', 'what the server sends cannot be read'];
  return { code, message: sentence(code === 'garbage' ? 'what the server sends is no WebSocket' : text, words) };
}

/** Names the failure in an ERROR envelope (W-43). */
export function failureOfError({ code, status, detail }: ErrorWords): Failure {
  const said = sentenceOf(code, status, detail ?? '');
  if (code === 'unauthorized' && status === 403) {
    return { code: 'forbidden', message: `the server does not let this token speak for this organization ${said}` };
  }
  if (code === 'bad_request' && status === 404) return { code: 'agent_unknown', message: `the server does not know the agent ${said}` };
  const [finding, text] = (isErrorCode(code) ? BY_ERROR[code] : undefined) ?? ['rpc_failed', 'the server ended the call with an error'];
  return { code: finding, message: `${text} ${said}` };
}

/** Names the failure of a socket that closed during a call (W-44). */
export function failureOfClose(closeCode: number, reason: string): Failure {
  const [code, text] = BY_CLOSE.get(closeCode) ?? ['rpc_failed', 'the server closed the socket with an error'];
  return { code, message: sentence(text, `close code ${String(closeCode)}${reason === '' ? '' : `: ${reason}`}`) };
}

/** OpenSSL's messages about a server without TLS. */
const NO_TLS = /wrong version number|packet length too long|http request/iu;
/** OpenSSL's messages about a server that lacks the protocol of a WebSocket, HTTP/1.1. */
const NO_HTTP_1 = /NO_APPLICATION_PROTOCOL|no application protocol/iu;
/** First byte of a TLS record that came in the clear: an alert, or a handshake. */
const TLS_RECORDS: ReadonlySet<number | undefined> = new Set([0x15, 0x16]);
/** Index of the type in an HTTP/2 frame, and the type SETTINGS, which a server sends first. */
const FRAME_TYPE_AT = 3;
const SETTINGS = 4;

/** The failure of an address whose scheme does not match the port; undefined for another cause. */
function misdialledFailure(words: string, { isSecure, unread }: TriedConnection): Failure | undefined {
  if (isSecure) {
    if (NO_TLS.test(words)) return { code: 'tls_failed', message: 'the server speaks no TLS; use ws://' };
    if (NO_HTTP_1.test(words)) return { code: 'garbage', message: 'no WebSocket is served here; for gRPC use grpcs://' };
    return undefined;
  }
  if (TLS_RECORDS.has(unread?.[0])) return { code: 'garbage', message: 'the server speaks TLS; use wss://' };
  if (unread?.[0] === 0 && unread[FRAME_TYPE_AT] === SETTINGS)
    return { code: 'garbage', message: 'the server speaks HTTP/2 and no WebSocket; for gRPC use grpc://' };
  return undefined;
}

function isErrorCode(code: string): code is keyof typeof BY_ERROR {
  return Object.hasOwn(BY_ERROR, code);
}

function sentenceOf(code: string, status: number, detail: string): string {
  return `(${oneLine(`ERROR ${code} ${String(status)}${detail === '' ? '' : `: ${detail}`}`, MAX_WORDS)})`;
}

function sentence(text: string, words: string): string {
  return `${text} (${oneLine(words, MAX_WORDS)})`;
}
