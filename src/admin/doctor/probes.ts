// One connection to an address, with or without a handshake, with or without asking for a socket, as the platform would make
// it. Says what happened; whether that is good is decided by its caller. No token is sent over it, and it is closed before
// the answer.
import { randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, rootCertificates, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';

/** Where to connect, and how long that may take. */
export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A connection that came about, or the system's word for why it did not; `no_answer` for the deadline. */
export type Probed<T> = { readonly kind: 'connected'; readonly value: T } | { readonly kind: 'failed'; readonly code: string };

export interface Handshake {
  /** Why the chain is not trusted, as the library says; undefined when it is. */
  readonly chainProblem: string | undefined;
  /** Whether the certificate is for the host that was dialled. */
  readonly isForHost: boolean;
  /** Ms since the epoch. */
  readonly validFromMs: number;
  readonly validUntilMs: number;
  /** What both sides agreed to speak; undefined when nothing was. */
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
 * Makes a handshake that goes through whatever the certificate is.
 *
 * @param authorities - PEM certificates that are trusted beside those of the runtime.
 * @param protocols - what is offered to be spoken (ALPN).
 */
export function probeTls(
  target: ProbeTarget,
  authorities: readonly string[],
  protocols: readonly string[] = ['h2', 'http/1.1'],
): Promise<Probed<Handshake>> {
  const { host, port } = target;
  const socket = connectTls({
    ...{ host, port, ...trusting(host, authorities) },
    ALPNProtocols: [...protocols],
    // Both are read below, each for itself.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  return settled(target, socket, (connected) => {
    socket.once('secureConnect', () => {
      connected(() => handshakeOf(socket, host));
    });
  });
}

function handshakeOf(socket: TLSSocket, host: string): Handshake {
  const certificate = socket.getPeerCertificate();
  // The types promise an error; what is there is its code.
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

/** Where something is asked for over HTTP. */
export interface RequestTarget extends ProbeTarget {
  readonly isTls: boolean;
  readonly path: string;
}

/**
 * Asks for a WebSocket without a token.
 *
 * @param authorities - PEM certificates that are trusted beside those of the runtime.
 * @returns the status of the answer; 101 when a socket was opened.
 */
export function probeUpgrade(target: RequestTarget, authorities: readonly string[]): Promise<Probed<number>> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  };
  return probeRequest(target, 'GET', headers, authorities);
}

/**
 * Sends an empty delivery without a signature.
 *
 * @param authorities - PEM certificates that are trusted beside those of the runtime.
 * @returns the status of the answer.
 */
export function probeDelivery(target: RequestTarget, authorities: readonly string[]): Promise<Probed<number>> {
  return probeRequest(target, 'POST', { 'content-length': '0' }, authorities);
}

function probeRequest(
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

/** Whose certificates are good for a host. */
function trusting(host: string, authorities: readonly string[]) {
  return {
    // A name only: an address must not be sent as one.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    // Given at all, they replace the runtime's own.
    ...(authorities.length === 0 ? {} : { ca: [...rootCertificates, ...authorities] }),
  };
}

/** Something that comes about or fails. */
type Attempt = Pick<EventEmitter, 'on' | 'once'> & { destroy(): unknown };

/**
 * Waits for what is watched for, an error, the deadline or the end of the wait, whichever is first.
 *
 * @param watch - gets what to call, with a way to read what came about.
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
      // What the closing of the connection says is of no interest any more.
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
    // The other side closed before anything came of it.
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
