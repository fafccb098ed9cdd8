// The identity of this process for its peers: a self-signed certificate made at startup. Peers trust it because its
// fingerprint is in the table of instances.
import { webcrypto } from 'node:crypto';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 3_600_000;
/** Validity; peers do not check it. */
const VALID_DAYS = 3650;

/** PEM. The key is secret and never leaves the process. */
export interface PeerIdentity {
  readonly certificate: string;
  readonly key: string;
  /** SHA-256 of the certificate, as `X509Certificate.fingerprint256` has it. */
  readonly fingerprint: string;
}

/** Makes an identity. @param nowMs - wall-clock time, ms since the epoch. */
export async function createPeerIdentity(nowMs: number): Promise<PeerIdentity> {
  // Loaded here, because only servers with peers need it, and loading takes a quarter of the start of a server.
  await import('reflect-metadata');
  const { X509CertificateGenerator } = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=parley-peer',
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(nowMs - DAY_MS),
    notAfter: new Date(nowMs + VALID_DAYS * DAY_MS),
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const digest = Buffer.from(await certificate.getThumbprint('SHA-256'))
    .toString('hex')
    .toUpperCase();
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
    fingerprint: (digest.match(/../gu) ?? []).join(':'),
  };
}
