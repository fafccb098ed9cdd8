// A certificate for loopback, made once per test process: an authority of its own and one leaf for `localhost`. Written
// as PEM files because that is how servers are given theirs; whoever asks for the files removes them.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { systemClock } from '../../src/base/clock.ts';

/** A certificate as servers and clients take it. */
export interface ThrowAwayCertificate {
  /** Leaf and authority, PEM. */
  readonly certificateFile: string;
  /** Private key of the leaf, PKCS #8 PEM. */
  readonly keyFile: string;
  /** The authority, PEM: what a client trusts. */
  readonly authorityFile: string;
  readonly authority: string;
  /** Deletes the files. */
  remove(): void;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

/** The same as PEM texts. */
interface Made {
  readonly leaf: string;
  readonly key: string;
  readonly authority: string;
}

let made: Promise<Made> | undefined;

/** The certificate of this process in files of its own. */
export async function throwAwayCertificate(): Promise<ThrowAwayCertificate> {
  made ??= makeCertificate();
  const { leaf, key, authority } = await made;
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-certificate-'));
  const write = (name: string, pem: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, pem, { mode: 0o600 });
    return file;
  };
  return {
    certificateFile: write('certificate.pem', leaf + authority),
    keyFile: write('key.pem', key),
    authorityFile: write('authority.pem', authority),
    authority,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function makeCertificate(): Promise<Made> {
  const nowMs = systemClock.nowMs();
  const validity = { notBefore: new Date(nowMs - DAY_MS), notAfter: new Date(nowMs + DAY_MS) };
  const [authorityKeys, leafKeys] = await Promise.all([newKeys(), newKeys()]);
  const authority = await X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=Throw-away authority',
    ...validity,
    keys: authorityKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  const leaf = await X509CertificateGenerator.create({
    serialNumber: '02',
    subject: 'CN=localhost',
    issuer: authority.subject,
    ...validity,
    publicKey: leafKeys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
      await SubjectKeyIdentifierExtension.create(leafKeys.publicKey),
      await AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  return {
    leaf: `${leaf.toString('pem')}\n`,
    key: await keyPem(leafKeys.privateKey),
    authority: `${authority.toString('pem')}\n`,
  };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const base64 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${base64.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
}
