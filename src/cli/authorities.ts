// The option --ca: certificate authorities to trust beside the public ones.
import type { Command } from 'commander';
import { EXIT } from '../base/terminal/failure.ts';
import { readBounded } from '../base/terminal/surroundings.ts';

/** The certificates in the file, as PEM; empty without a file. A file without certificates ends the command as a usage error. */
export async function authoritiesIn(file: string | undefined, command: Command): Promise<readonly string[]> {
  if (file === undefined) return [];
  try {
    const pem = Buffer.from(await readBounded(file)).toString('utf8');
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return [pem];
    throw new RangeError(`${file} holds no PEM certificate`);
  } catch (thrown) {
    if (thrown instanceof RangeError) command.error(`error: ${thrown.message}`, { exitCode: EXIT.usage });
    throw thrown;
  }
}
