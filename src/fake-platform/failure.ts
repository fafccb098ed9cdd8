// Why an RPC broke, as a named finding. Knows the status numbers of gRPC and the words its library puts beside them,
// and nothing of calls.
import { constants } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { oneLine } from '../base/one-line.ts';
import type { FindingCode } from './finding.ts';
import { statusName } from './status-name.ts';

/** A broken RPC or connection. */
export interface Failure {
  readonly code: FindingCode;
  /** A sentence for people, with what the other side said. */
  readonly message: string;
}

/** What the library reports. Both are missing where it failed at a message itself, whatever its own types say. */
export interface GrpcStatus {
  readonly code: number | undefined;
  readonly details: string | undefined;
}

// Statuses that mean one thing wherever they come from.
const BY_STATUS: ReadonlyMap<number, readonly [FindingCode, string]> = new Map([
  [status.UNAUTHENTICATED, ['unauthenticated', 'the server refused the token']],
  [status.PERMISSION_DENIED, ['forbidden', 'the server does not let this token speak for this organization']],
  [status.NOT_FOUND, ['agent_unknown', 'the server does not know the agent']],
  [status.UNIMPLEMENTED, ['not_served', 'the server does not serve this method']],
  // We hear of our own cancellations nowhere, so this one is the server's.
  [status.CANCELLED, ['closed_early', 'the server broke the turn off']],
  [status.RESOURCE_EXHAUSTED, ['overloaded', 'the server has no room for this call']],
]);

// As gRPC reads them; of the others its library makes statuses that name no cause.
const BY_HTTP: ReadonlyMap<number, number> = new Map([
  [401, status.UNAUTHENTICATED],
  [403, status.PERMISSION_DENIED],
]);

const EXHAUSTED: number = status.RESOURCE_EXHAUSTED;
/** The library's words for what is beyond its own limits, and not the server's. */
const TOO_LARGE = /^Received message (?:larger than max|that decompresses to a size larger)/u;

const LIBRARY_STATUSES: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.INTERNAL, status.UNKNOWN]);

// What the library says when it, not the server, made the status. Node's own error names, so they are stable.
const BY_WORDS: readonly (readonly [RegExp, FindingCode, string])[] = [
  [/ECONNREFUSED/u, 'refused', 'nothing listens at the address'],
  [/ENOTFOUND|EAI_AGAIN|Name resolution/u, 'host_unknown', 'the host name has no address'],
  [/without (?:gRPC|sending) status|without status/u, 'closed_early', 'the server ended the turn without a status'],
  // The second is what a proxy says in front of a server that is full.
  [/Stream refused|HTTP status (?:code )?(?:429|503)\b/u, 'overloaded', 'the server has no room for this call'],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/u, 'connect_timeout', 'the address cannot be reached'],
  [/certificate|altnames|self.signed|CERT_|ERR_TLS|SSL|TLS|EPROTO|ALPN/iu, 'tls_failed', 'the secure connection could not be made'],
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

/** Names the failure behind a gRPC status that is not OK. */
export function failureOf({ code, details = '' }: GrpcStatus): Failure {
  if (code === undefined) return { code: 'garbage', message: 'a message of the server cannot be read' };
  if (code === EXHAUSTED && TOO_LARGE.test(details)) {
    return { code: 'garbage', message: sentence('a message of the server is larger than any that is taken', code, details) };
  }
  const known = BY_STATUS.get(code);
  if (known !== undefined) return { code: known[0], message: sentence(known[1], code, details) };
  // A server's own UNAVAILABLE or INTERNAL may use any words; only the library's statuses are read further.
  const match = LIBRARY_STATUSES.has(code) ? failureOfWords(details) : undefined;
  if (match !== undefined) return { code: match[0], message: sentence(match[1], code, details) };
  return { code: 'rpc_failed', message: sentence('the server ended the turn with an error', code, details) };
}

/** What the words of the runtime about a connection mean, as a code and a sentence; undefined for words that are not known. */
export function failureOfWords(words: string): readonly [FindingCode, string] | undefined {
  const match = BY_WORDS.find(([pattern]) => pattern.test(words));
  return match === undefined ? undefined : [match[1], match[2]];
}

/** Names the failure of an RPC that is answered with an HTTP status other than 200: by something before the server, or no gRPC server. */
export function failureOfHttp(httpStatus: number): Failure {
  return failureOf({ code: BY_HTTP.get(httpStatus) ?? status.UNKNOWN, details: `HTTP status ${String(httpStatus)}` });
}

/** Names the failure of an RPC that the server reset with an error code of HTTP/2; undefined where the code alone says nothing. */
export function failureOfReset(errorCode: number): Failure | undefined {
  const details = `RST_STREAM ${String(errorCode)}`;
  switch (errorCode) {
    case constants.NGHTTP2_REFUSED_STREAM:
    case constants.NGHTTP2_ENHANCE_YOUR_CALM:
      return failureOf({ code: status.RESOURCE_EXHAUSTED, details });
    case constants.NGHTTP2_INTERNAL_ERROR:
      return failureOf({ code: status.UNAVAILABLE, details });
    default:
      return undefined;
  }
}

function sentence(text: string, code: number, details: string): string {
  const said = oneLine(details.replaceAll(WRAPPING, ''), 300);
  return `${text} (${statusName(code)}${said === '' ? '' : `: ${said}`})`;
}

/** What the library writes around the reason of a failed connection. */
const WRAPPING = /^No connection established\. Last error: (?:Error: )?|(?: \([\d-]{10}T[\d:.]+Z\))?\. Resolution note:.*$/gu;
