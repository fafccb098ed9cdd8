// Connects to an address once, as the platform would: TCP, TLS, or an HTTP request. Reports the result, and the caller evaluates it. Sends
// no token, and closes the connection before it resolves.
import { randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { Clock } from '../../base/clock.ts';

/** The address to probe, and the limit. */
export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  /** The host that the certificate must be valid for; default: {@link host}. */
  readonly name?: string;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The connection's result, or the system's error code; `no_answer` after the limit. */
export type Probed<T> = { readonly kind: 'connected'; readonly value: T } | { readonly kind: 'failed'; readonly code: string };

export interface Handshake {
  /** OpenSSL's code for why the chain is not trusted; undefined when it is trusted. */
  readonly chainProblem: string | undefined;
  /** Whether the certificate is valid for the dialled host. */
  readonly isForHost: boolean;
  /** Ms since the epoch. */
  readonly validFromMs: number;
  readonly validUntilMs: number;
  /** The negotiated protocol; undefined when none was negotiated. */
  readonly protocol: string | undefined;
}

export function probeTcp(target: ProbeTarget): Promise<Probed<undefined>> {
  const { host, port } = target;
  const socket = connectTcp({ host, port });
  return settled(target, socket, (connected) => {
    socket.once('connect', () => {
      connected(() => undefined);
    });
  });
}

/**
 * Makes a handshake that succeeds whatever the certificate.
 *
 * @param authorities - PEM certificates to trust in addition to Node's.
 * @param protocols - the protocols to offer (ALPN).
 */
export function probeTls(
  target: ProbeTarget,
  authorities: readonly string[],
  protocols: readonly string[] = ['h2', 'http/1.1'],
): Promise<Probed<Handshake>> {
  const { host, port, name = host } = target;
  const socket = connectTls({
    ...{ host, port, ...trusting(name, authorities) },
    ALPNProtocols: [...protocols],
    // The result contains the problems, so neither check ends the handshake.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  return settled(target, socket, (connected) => {
    socket.once('secureConnect', () => {
      connected(() => handshakeOf(socket, name));
    });
  });
}

function handshakeOf(socket: TLSSocket, host: string): Handshake {
  const certificate = socket.getPeerCertificate();
  // According to the types this is an Error, but it is a code.
  const problem: unknown = socket.authorized ? undefined : socket.authorizationError;
  return {
    chainProblem: problem === undefined || problem === null ? undefined : wordOf(problem),
    isForHost: isFor(host, certificate),
    validFromMs: Date.parse(certificate.valid_from),
    validUntilMs: Date.parse(certificate.valid_to),
    protocol: typeof socket.alpnProtocol === 'string' ? socket.alpnProtocol : undefined,
  };
}

function isFor(host: string, certificate: PeerCertificate): boolean {
  return checkServerIdentity(host, certificate) === undefined;
}

/** The address for an HTTP request. */
export interface RequestTarget extends ProbeTarget {
  readonly isTls: boolean;
  readonly path: string;
}

/**
 * Requests a WebSocket without a token.
 *
 * @param authorities - PEM certificates to trust in addition to Node's.
 * @returns the status of the response; 101 when a socket was opened.
 */
export function probeUpgrade(target: RequestTarget, authorities: readonly string[]): Promise<Probed<number>> {
  return probeRequest(target, 'GET', upgradeHeaders(), authorities);
}

/** The headers that request a WebSocket. */
export function upgradeHeaders() {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  };
}

/**
 * Sends an empty unsigned delivery.
 *
 * @param authorities - PEM certificates to trust in addition to Node's.
 * @returns the status of the response.
 */
export function probeDelivery(target: RequestTarget, authorities: readonly string[]): Promise<Probed<number>> {
  return probeRequest(target, 'POST', { 'content-length': '0' }, authorities);
}

/** Sends a request without a body. @returns the status of the response. */
export function probeRequest(
  target: RequestTarget,
  method: 'GET' | 'POST',
  headers: Readonly<Record<string, string>>,
  authorities: readonly string[],
): Promise<Probed<number>> {
  const { host, port, path, isTls } = target;
  const createConnection = (): Socket =>
    isTls ? connectTls({ host, port, ...trusting(host, authorities), ALPNProtocols: ['http/1.1'] }) : connectTcp({ host, port });
  const request = requestHttp({ host, port, path, method, headers, createConnection });
  request.end();
  return settled(target, request, (connected) => {
    const answered = ({ statusCode = 0, socket }: IncomingMessage): void => {
      socket.destroy();
      connected(() => statusCode);
    };
    request.once('response', answered).once('upgrade', answered);
  });
}

/** Cached, because parsing Node's certificates takes longer than the rest of a probe. */
const contexts = new WeakMap<readonly string[], SecureContext>();

/** The context that trusts these authorities in addition to Node's. */
function contextOf(authorities: readonly string[]): SecureContext {
  const secureContext = contexts.get(authorities) ?? createSecureContext({ ca: [...rootCertificates, ...authorities] });
  contexts.set(authorities, secureContext);
  return secureContext;
}

/** TLS options: the expected host and the trusted authorities. */
function trusting(host: string, authorities: readonly string[]) {
  return {
    // Only names, because SNI must not contain an IP address.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(authorities.length > 0 && { secureContext: contextOf(authorities) }),
  };
}

/** A connection or request that succeeds or fails. */
type Attempt = Pick<EventEmitter, 'on' | 'once'> & { destroy(): unknown };

/**
 * Waits for the result, an error, the limit or an abort, whichever comes first.
 *
 * @param watch - registers the callbacks; they get a function that reads the result.
 */
function settled<T>(
  { clock, limitMs, signal }: ProbeTarget,
  attempt: Attempt,
  watch: (connected: (read: () => T) => void) => void,
): Promise<Probed<T>> {
  return new Promise((resolve, reject) => {
    const end = (probe: () => Probed<T>): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      // Errors while the connection closes are ignored.
      attempt.on('error', () => undefined);
      try {
        resolve(probe());
      } catch (cause) {
        reject(new Error('the connection could not be examined', { cause }));
      } finally {
        attempt.destroy();
      }
    };
    const onAbort = (): void => {
      end(() => ({ kind: 'failed', code: 'no_answer' }));
    };
    const cancel = clock.after(limitMs, onAbort);
    watch((read) => {
      end(() => ({ kind: 'connected', value: read() }));
    });
    attempt.once('error', (error: unknown) => {
      end(() => ({ kind: 'failed', code: wordOf(error) }));
    });
    // The peer closed the connection before there was a result.
    attempt.once('close', () => {
      end(() => ({ kind: 'failed', code: 'ECONNRESET' }));
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Only the code of an error, because its message could contain anything. */
function wordOf(problem: unknown): string {
  if (typeof problem === 'string') return problem;
  return problem instanceof Error && 'code' in problem && typeof problem.code === 'string' ? problem.code : 'unknown';
}
