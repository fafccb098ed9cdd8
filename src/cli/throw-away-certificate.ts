// A self-signed certificate for demos and tests on one machine. The certificate is valid for a day, and its key stays in the folder to
// which both are written.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const DAY_MS = 24 * 3_600_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** The paths of the PEM files, and the certificate for clients that must trust it. */
export interface ThrowAwayCertificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificatePem: string;
}

/** Writes certificate.pem and key.pem (mode 600) for `localhost` and the loopback addresses into `folder`. */
export async function writeThrowAwayCertificate(folder: string, nowMs: number): Promise<ThrowAwayCertificate> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    keys,
    signingAlgorithm: ALGORITHM,
    // An hour back, for clients whose clock is late.
    notBefore: new Date(nowMs - 3_600_000),
    notAfter: new Date(nowMs + DAY_MS),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const keyPem = `-----BEGIN PRIVATE KEY-----\n${(key.match(/.{1,64}/g) ?? []).join('\n')}\n-----END PRIVATE KEY-----\n`;
  const certificatePem = `${certificate.toString('pem')}\n`;
  const certificateFile = path.join(folder, 'certificate.pem');
  const keyFile = path.join(folder, 'key.pem');
  await writeFile(certificateFile, certificatePem);
  await writeFile(keyFile, keyPem, { mode: 0o600 });
  return { certificateFile, keyFile, certificatePem };
}
