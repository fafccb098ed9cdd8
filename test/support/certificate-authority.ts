// A certificate authority that lives as long as a test, and servers with certificates of it, right and wrong ones.
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import 'reflect-metadata';
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { onTestFinished } from 'vitest';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/** What a certificate says, and who signed it. */
export interface CertificateOptions {
  readonly name?: string;
  /** Default: the name as the CN and nothing else. */
  readonly subject?: string;
  /** Days from now; negative: in the past. */
  readonly fromDays?: number;
  readonly toDays?: number;
  /** Signed by itself instead of by the authority. */
  readonly isSelfSigned?: boolean;
}

/** PEM texts of a server. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Signs certificates. */
export interface Authority {
  readonly pem: string;
  issue(options?: CertificateOptions): Promise<ServerCertificate>;
}

/** Makes an authority. @param nowMs - the real time: the library looks at no other. */
export async function certificateAuthority(nowMs: number): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const root = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Test authority',
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(nowMs - 400 * DAY_MS),
    notAfter: new Date(nowMs + 400 * DAY_MS),
    extensions: [new BasicConstraintsExtension(true, 1, true)],
  });
  return {
    pem: root.toString('pem'),
    issue: async ({ name = 'localhost', subject = `CN=${name}`, fromDays = -1, toDays = 90, isSelfSigned = false } = {}) => {
      const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const certificate = await X509CertificateGenerator.create({
        subject,
        issuer: isSelfSigned ? subject : root.subject,
        publicKey: own.publicKey,
        signingKey: isSelfSigned ? own.privateKey : keys.privateKey,
        signingAlgorithm: ALGORITHM,
        notBefore: new Date(nowMs + fromDays * DAY_MS),
        notAfter: new Date(nowMs + toDays * DAY_MS),
        extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
      });
      return { cert: certificate.toString('pem'), key: await pemOf(own.privateKey) };
    },
  };
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const text = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${(text.match(/.{1,64}/gu) ?? []).join('\n')}\n-----END PRIVATE KEY-----\n`;
}

/** How a server speaks: both HTTP/2 and HTTP/1.1 or one of them, over TLS; HTTP/1.1 without TLS; or nothing at all. */
export type Speaking = 'both' | 'h2' | 'http/1.1' | 'plain' | 'silent';

/**
 * Starts a server on a free port of loopback that is gone when the test ends.
 *
 * @param answer - to who asks for a WebSocket: a status, or null for a connection that is closed; default 401.
 * @returns its port.
 */
export async function listening(speaking: Speaking, certificate?: ServerCertificate, answer: number | null = 401): Promise<number> {
  const server = serverOf(speaking, certificate);
  server.on('upgrade', (_request: unknown, socket: Duplex) => {
    socket.on('error', () => undefined);
    socket.end(
      answer === null
        ? ''
        : `HTTP/1.1 ${String(answer)} Answer\r\nconnection: ${answer === 101 ? 'Upgrade\r\nupgrade: websocket' : 'close'}\r\n\r\n`,
    );
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

function serverOf(speaking: Speaking, certificate: ServerCertificate | undefined): Server {
  switch (speaking) {
    case 'both':
      return createSecureServer({ ...certificate, allowHTTP1: true });
    case 'h2':
      return createSecureServer({ ...certificate });
    case 'http/1.1':
      return createHttpsServer({ ...certificate });
    case 'plain':
      return createHttpServer();
    case 'silent':
      return createServer((socket) => {
        socket.on('error', () => undefined);
      });
  }
}
