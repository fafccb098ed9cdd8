// Connects to an address once as the platform would, with or without a TLS handshake or a WebSocket request. Reports what happened; the
// caller evaluates it. Sends no token, and closes the connection before it resolves.
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

/** The address and the limit. */
export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  /** The host that the certificate must be for; default: {@link host}. */
  readonly name?: string;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The connection, or the system's error code; `no_answer` when the limit has passed. */
export type Probed<T> = { readonly kind: 'connected'; readonly value: T } | { readonly kind: 'failed'; readonly code: string };

export interface Handshake {
  /** Why the chain is not trusted, in OpenSSL's word; undefined when it is. */
  readonly chainProblem: string | undefined;
  /** Whether the certificate is for the host that was dialled. */
  readonly isForHost: boolean;
  /** Ms since the epoch. */
  readonly validFromMs: number;
  readonly validUntilMs: number;
  /** The negotiated protocol; undefined without one. */
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
 * Makes a handshake that succeeds with any certificate.
 *
 * @param authorities - PEM certificates to trust beside those of Node.
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
    // Both are evaluated below.
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
  // The types promise an error; the value is its code.
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

/** The address of an HTTP request. */
export interface RequestTarget extends ProbeTarget {
  readonly isTls: boolean;
  readonly path: string;
}

/**
 * Requests a WebSocket without a token.
 *
 * @param authorities - PEM certificates to trust beside those of Node.
 * @returns the status of the answer; 101 when a socket was opened.
 */
export function probeUpgrade(target: RequestTarget, authorities: readonly string[]): Promise<Probed<number>> {
  return probeRequest(target, 'GET', upgradeHeaders(), authorities);
}

/** The headers that ask for a WebSocket. */
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
 * @param authorities - PEM certificates to trust beside those of Node.
 * @returns the status of the answer.
 */
export function probeDelivery(target: RequestTarget, authorities: readonly string[]): Promise<Probed<number>> {
  return probeRequest(target, 'POST', { 'content-length': '0' }, authorities);
}

/** Sends a request without a body. @returns the status of the answer. */
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

/** Reading the certificates of Node once more takes longer than the rest of a probe. */
const contexts = new WeakMap<readonly string[], SecureContext>();

/** Trusts these authorities beside those of Node. */
function contextOf(authorities: readonly string[]): SecureContext {
  const secureContext = contexts.get(authorities) ?? createSecureContext({ ca: [...rootCertificates, ...authorities] });
  contexts.set(authorities, secureContext);
  return secureContext;
}

/** The trusted certificates for a host. */
function trusting(host: string, authorities: readonly string[]) {
  return {
    // Names only: SNI must not hold an IP address.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(authorities.length > 0 && { secureContext: contextOf(authorities) }),
  };
}

/** An attempt that succeeds or fails. */
type Attempt = Pick<EventEmitter, 'on' | 'once'> & { destroy(): unknown };

/**
 * Waits for the result, an error, the limit or an abort, whichever comes first.
 *
 * @param watch - registers callbacks on the connection, with a function that reads the result.
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
      // Errors while the connection closes do not matter any more.
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
    // The other side closed too early.
    attempt.once('close', () => {
      end(() => ({ kind: 'failed', code: 'ECONNRESET' }));
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** The code of an error: its message could hold anything. */
function wordOf(problem: unknown): string {
  if (typeof problem === 'string') return problem;
  return problem instanceof Error && 'code' in problem && typeof problem.code === 'string' ? problem.code : 'unknown';
}
