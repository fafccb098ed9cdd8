// What a server under measurement needs around it before it can take a call with TLS and the token check on: an issuer, a
// certificate, and a configuration file that names both.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import { loadProfile } from '../src/fake-platform/platform/profile.ts';
import { startIssuer, type Issuer } from '../src/fake-platform/platform/issuer.ts';
import { writeThrowAwayCertificate, type ThrowAwayCertificate } from '../src/cli/throw-away-certificate.ts';

const ORGANIZATION = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';

/** Everything that was prepared; whoever prepared it closes the issuer. */
export interface Surroundings {
  readonly issuer: Issuer;
  /** PEM text that clients must trust. */
  readonly certificatePem: string;
  /** For `--config`. Holds a nonce: readable by its owner only. */
  readonly configFile: string;
}

/** Starts an issuer and writes certificate, key and `parley.json` into `folder`. Ports are free ones of 127.0.0.1. */
export async function prepareSurroundings(folder: string): Promise<Surroundings> {
  const certificate = await writeThrowAwayCertificate(folder, systemClock.nowMs());
  const issuer = await startIssuer({ profile: loadProfile('fake'), organizationId: ORGANIZATION });
  const configFile = path.join(folder, 'parley.json');
  try {
    await writeFile(configFile, JSON.stringify(configuration(issuer, certificate), null, 2), { mode: 0o600 });
  } catch (error) {
    await issuer.close();
    throw error;
  }
  return { issuer, certificatePem: certificate.certificatePem, configFile };
}

function configuration({ issuer, claims }: Issuer, { certificateFile, keyFile }: ThrowAwayCertificate): object {
  const { organizationId, url, schemaId, audience, subject, nonce } = claims;
  const dataSource = {
    id: 'laptop',
    organization_id: organizationId,
    url,
    schema_id: schemaId,
    audience,
    subject,
    nonce,
    transport: 'grpc',
  };
  return {
    platform: { profile: 'fake', extra_issuers: [issuer] },
    grpc: { host: '127.0.0.1', port: 0 },
    ops: { port: 0 },
    tls: { mode: 'files', certificate_file: certificateFile, key_file: keyFile },
    auth: { data_sources: [dataSource] },
    // So that a timeline can show what was said; never in production.
    media: { reveal_prompt_text: true },
    log: { level: 'warn' },
    shutdown: { grace_ms: 1000 },
  };
}
