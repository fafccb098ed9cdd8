// Why an RPC broke, as a named finding. Knows the status numbers of gRPC and the messages of its library,
// and nothing about calls.
import { constants } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { oneLine } from '../../base/one-line.ts';
import type { FindingCode } from '../caller/finding.ts';

/**
 * How an RPC was lost. `cut`: in the middle, so nobody knows how much of it the server has processed. `refused`: by the server's HTTP/2,
 * before the server processed anything. `unreached`: there was no connection.
 */
export type Loss = 'cut' | 'refused' | 'unreached';

/** A broken RPC or connection. */
export interface Failure {
  readonly code: FindingCode;
  /** A sentence for people, which quotes the other side's message. */
  readonly message: string;
  /** Set when the RPC was lost and may succeed again. Undefined: the server itself decided, or a retry would fail the same way. */
  readonly loss?: Loss;
}

/** The status of an RPC. */
export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
}

// Statuses that mean the same from every sender.
const BY_STATUS: ReadonlyMap<number, readonly [FindingCode, string]> = new Map([
  [status.UNAUTHENTICATED, ['unauthenticated', 'the server refused the token']],
  [status.PERMISSION_DENIED, ['forbidden', 'the server does not let this token speak for this organization']],
  [status.NOT_FOUND, ['agent_unknown', 'the server does not know the agent']],
  [status.UNIMPLEMENTED, ['not_served', 'the server does not serve this method']],
  // Cancellations by the platform are not reported here, so this one is the server's.
  [status.CANCELLED, ['closed_early', 'the server broke the turn off']],
  [status.RESOURCE_EXHAUSTED, ['overloaded', 'the server has no room for this call']],
]);

// As gRPC maps them. For other HTTP statuses, the library makes statuses that name no cause.
const BY_HTTP: ReadonlyMap<number, number> = new Map([
  [401, status.UNAUTHENTICATED],
  [403, status.PERMISSION_DENIED],
  [404, status.UNIMPLEMENTED],
  [502, status.UNAVAILABLE],
  [503, status.UNAVAILABLE],
  [504, status.UNAVAILABLE],
]);

const UNAVAILABLE: number = status.UNAVAILABLE;
const BY_RESET: ReadonlyMap<number, number> = new Map([
  [constants.NGHTTP2_REFUSED_STREAM, status.RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, status.RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INTERNAL_ERROR, status.UNAVAILABLE],
]);

/** The answer of a proxy whose server is gone. */
const GATEWAY = /HTTP status (?:code )?50[234]\b/u;

const OTHER: readonly [FindingCode, string] = ['rpc_failed', 'the server ended the turn with an error'];

const LIBRARY_STATUSES: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.INTERNAL, status.UNKNOWN]);

// Messages of statuses that the library made and not the server. They contain Node's error names, which are stable.
const BY_WORDS: readonly (readonly [RegExp, FindingCode, string])[] = [
  [/ECONNREFUSED/u, 'refused', 'nothing listens at the address: is the server running?'],
  [/ENOTFOUND|EAI_AGAIN|Name resolution/u, 'host_unknown', 'the host name has no address'],
  [/without (?:gRPC|sending) status|without status/u, 'closed_early', 'the server ended the turn without a status'],
  // A proxy whose server is full answers with these HTTP statuses.
  [/Stream refused|HTTP status (?:code )?(?:429|503)\b/u, 'overloaded', 'the server has no room for this call'],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/u, 'connect_timeout', 'the address cannot be reached'],
  [
    /certificate|altnames|self.signed|CERT_|ERR_TLS|SSL|TLS|EPROTO|ALPN/iu,
    'tls_failed',
    'the secure connection could not be made (a server without TLS is called by grpc:// or ws://)',
  ],
  [
    /Protocol error|parsing error|NGHTTP2|ERR_HTTP2|content-type|HTTP status|decompress|Parse Error|frame/iu,
    'garbage',
    'the server does not speak gRPC, or its messages cannot be read',
  ],
  [
    /ECONNRESET|EPIPE|closed|dropped|GOAWAY|hang up|disconnected|RST_STREAM|Failed to connect/iu,
    'closed_early',
    'the connection was closed',
  ],
];

/** Names the failure of a gRPC status that is not OK. */
export function failureOf({ code, details }: GrpcStatus): Failure {
  // A server may use any words for its own UNAVAILABLE or INTERNAL, so only messages of the library are examined.
  const [name, words] = BY_STATUS.get(code) ?? (LIBRARY_STATUSES.has(code) ? failureOfWords(details) : undefined) ?? OTHER;
  const loss = lossOf(code, name, details);
  return { code: name, message: sentence(words, code, details), ...(loss === undefined ? {} : { loss }) };
}

/** A server that sends UNAVAILABLE itself is going away, so another one may answer. A wrong name or certificate stays wrong. */
function lossOf(code: number, name: FindingCode, details: string): Loss | undefined {
  const isConnected = !details.startsWith('No connection established');
  if (name === 'closed_early') return isConnected ? 'cut' : 'unreached';
  if (code !== UNAVAILABLE) return undefined;
  if (name === 'refused') return 'unreached';
  if (details.includes('Stream refused')) return 'refused';
  return name === 'rpc_failed' || GATEWAY.test(details) ? 'cut' : undefined;
}

/** A finding code and a sentence for the runtime's message about a connection; undefined for an unknown message. */
export function failureOfWords(words: string): readonly [FindingCode, string] | undefined {
  const match = BY_WORDS.find(([pattern]) => pattern.test(words));
  return match === undefined ? undefined : [match[1], match[2]];
}

/** The status of an RPC that was answered with an HTTP status other than 200, by a proxy or by a server that is not gRPC. */
export function statusOfHttp(httpStatus: number): GrpcStatus {
  return { code: BY_HTTP.get(httpStatus) ?? status.UNKNOWN, details: `HTTP status ${String(httpStatus)}` };
}

/** The status of an RPC that the server reset with this HTTP/2 error code; undefined for codes that name no cause. */
export function statusOfReset(errorCode: number): GrpcStatus | undefined {
  const code = BY_RESET.get(errorCode);
  return code === undefined ? undefined : { code, details: `RST_STREAM ${String(errorCode)}` };
}

function sentence(text: string, code: number, details: string): string {
  const said = oneLine(details.replaceAll(WRAPPING, ''), 300);
  return `${text} (${statusName(code)}${said === '' ? '' : `: ${said}`})`;
}

/** The text that the library puts around the reason of a failed connection. */
const WRAPPING = /^No connection established\. Last error: (?:Error: )?|(?: \([\d-]{10}T[\d:.]+Z\))?\. Resolution note:.*$/gu;

export function statusName(code: number): string {
  return status[code] ?? String(code);
}
