// The throw-away certificate of the demo in a folder of its own; whoever asks for it removes it.
import { mkdtempSync, rmSync } from 'node:fs';
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
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-certificate-'));
  return {
    ...(await writeThrowAwayCertificate(folder, systemClock.nowMs())),
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
