// Who this process is for its peers: a certificate made at the start, signed by itself. Nobody vouches for it but the table of
// instances, which holds its fingerprint.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { X509CertificateGenerator } from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 3_600_000;
/** Longer than any process lives. Peers do not check it. */
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
