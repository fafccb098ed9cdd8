// The throw-away certificate of the demo in a folder of its own; whoever asks for it removes it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { writeThrowAwayCertificate, type ThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';

/** A certificate whose files can be deleted. */
export interface TestCertificate extends ThrowAwayCertificate {
  /** For more files of the same test. */
  readonly folder: string;
  /** Deletes the folder. */
  remove(): void;
}

/** Makes a certificate for `localhost`. */
export async function testCertificate(): Promise<TestCertificate> {
  const folder = madeFolder();
  return { ...(await writeThrowAwayCertificate(folder, systemClock.nowMs())), folder, remove: removing(folder) };
}

/** Making one takes as long as a tenth of a server's start. */
let shared: Promise<{ readonly certificate: string; readonly key: string }> | undefined;

/** A copy of the one certificate that all servers of this process have. */
export async function sharedCertificate(): Promise<TestCertificate> {
  shared ??= testCertificate().then((made) => {
    const read = { certificate: readFileSync(made.certificateFile, 'utf8'), key: readFileSync(made.keyFile, 'utf8') };
    made.remove();
    return read;
  });
  const { certificate, key } = await shared;
  const folder = madeFolder();
  const [certificateFile, keyFile] = [path.join(folder, 'certificate.pem'), path.join(folder, 'key.pem')];
  writeFileSync(certificateFile, certificate);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { certificateFile, keyFile, certificatePem: certificate, folder, remove: removing(folder) };
}

function madeFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'parley-certificate-'));
}

function removing(folder: string): () => void {
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
