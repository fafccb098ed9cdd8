// A client of a TLS server that shows a given certificate, keeps what the server shows, and says some words. A
// server under TLS 1.3 refuses a client after the client's own handshake has ended, so only an answer proves that it was let in.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import tls from 'node:tls';
import { onTestFinished } from 'vitest';
import { tlsIdentity, type TlsIdentity } from '../../src/base/tls-identity.ts';
import { within } from './until.ts';

/** The identity of a server from PEM texts. */
export function identityOf({ cert, key }: { readonly cert: string; readonly key: string }): TlsIdentity {
  return tlsIdentity(Buffer.from(cert), Buffer.from(key), { certificateFile: 'certificate.pem', keyFile: 'key.pem' });
}

/** What the client brings: the authority that it trusts, and whatever it shows. */
export type TlsPeerOptions = Pick<tls.ConnectionOptions, 'ca' | 'cert' | 'key' | 'maxVersion' | 'session'>;

/** One connection to `localhost`; it ends with the test at the latest. */
export class TlsPeer {
  readonly #socket: tls.TLSSocket;
  readonly #shown: X509Certificate | undefined;
  /** What would let a later connection go on from this one. */
  readonly sessions: readonly Buffer[];

  private constructor(socket: tls.TLSSocket, sessions: readonly Buffer[]) {
    this.#socket = socket;
    this.#shown = socket.getPeerX509Certificate();
    this.sessions = sessions;
  }

  /** @throws Error when the handshake fails as the client sees it. */
  static async connect(port: number, options: TlsPeerOptions): Promise<TlsPeer> {
    const socket = tls.connect({ host: '127.0.0.1', port, servername: 'localhost', ...options });
    onTestFinished(() => {
      socket.destroy();
    });
    // It may be cut at any moment from here on.
    socket.on('error', () => undefined);
    const sessions: Buffer[] = [];
    socket.on('session', (session) => sessions.push(session));
    await within('the handshake ends', once(socket, 'secureConnect'));
    return new TlsPeer(socket, sessions);
  }

  /** Whether a client is let in that says something; a handshake that fails is a no. */
  static async isLetIn(port: number, options: TlsPeerOptions): Promise<boolean> {
    try {
      const peer = await TlsPeer.connect(port, options);
      const answer = await peer.answerTo('hello');
      peer.end();
      return answer !== '';
    } catch {
      return false;
    }
  }

  /** Whether the server showed this certificate. */
  shows({ certificate }: Pick<TlsIdentity, 'certificate'>): boolean {
    return this.#shown?.fingerprint256 === new X509Certificate(certificate).fingerprint256;
  }

  /** The first words of the answer; empty when the connection ends without one. */
  answerTo(text: string): Promise<string> {
    const socket = this.#socket;
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (bytes: Buffer) => {
        resolve(bytes.toString());
      });
      socket.once('close', () => {
        resolve('');
      });
    });
    if (socket.destroyed) return Promise.resolve('');
    socket.write(text);
    return within('an answer or the end', answer);
  }

  end(): void {
    this.#socket.destroy();
  }
}
