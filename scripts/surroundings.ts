// What a server under measurement needs around it before it can take a call with TLS and the token check on: an issuer, a
// certificate, and a configuration file that names both.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import { loadProfile } from '../src/fake-platform/platform/profile.ts';
import { dataSource } from '../test/support/server-flags.ts';
import { startIssuer, type Issuer } from '../src/fake-platform/platform/issuer.ts';
import { writeThrowAwayCertificate, type ThrowAwayCertificate } from '../src/cli/throw-away-certificate.ts';
import { builtMain } from './bench/built-main.ts';
import { MeasuredProcess } from './bench/measured-process.ts';

const ORGANIZATION = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';

/** Everything that was prepared; whoever prepared it closes the issuer. */
export interface Surroundings {
  readonly issuer: Issuer;
  /** PEM text that clients must trust. */
  readonly certificatePem: string;
  /** Of the certificate's key, as PEM. */
  readonly keyFile: string;
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
  return { issuer, certificatePem: certificate.certificatePem, keyFile: certificate.keyFile, configFile };
}

/** The built program, serving calls with TLS and the token check on. Whoever starts it stops it. */
export interface BuiltServer {
  readonly process: MeasuredProcess;
  readonly port: number;
  readonly opsPort: number;
}

/**
 * Starts it and waits until it is ready.
 *
 * @param onStderr - gets every line of its log; default: passed on.
 */
export async function startBuilt(
  { configFile }: Surroundings,
  flags: readonly string[] = [],
  onStderr?: (line: string) => void,
): Promise<BuiltServer> {
  const args = [builtMain(), 'serve', '--json', `--config=${configFile}`, ...flags];
  const child = new MeasuredProcess({ args, core: undefined, ...(onStderr === undefined ? {} : { onStderr }) });
  const ready = await child.line();
  if (typeof ready !== 'object' || ready === null || !('port' in ready) || !('opsPort' in ready)) throw new Error('no ready line came');
  return { process: child, port: Number(ready.port), opsPort: Number(ready.opsPort) };
}

function configuration(issuer: Issuer, { certificateFile, keyFile }: ThrowAwayCertificate): object {
  return {
    platform: { profile: 'fake', extra_issuers: [issuer.issuer] },
    grpc: { host: '127.0.0.1', port: 0 },
    ops: { port: 0 },
    tls: { mode: 'files', certificate_file: certificateFile, key_file: keyFile },
    auth: { data_sources: [dataSource(issuer)] },
    // So that a timeline can show what was said; never in production.
    media: { reveal_prompt_text: true },
    log: { level: 'warn' },
    shutdown: { grace_ms: 1000 },
  };
}
