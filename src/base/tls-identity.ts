// Who a server is on TLS: certificate and key from PEM files, read once and tried together. Opens no socket.
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { AppError } from './errors.ts';

/** Where they lie; absolute paths. */
export interface TlsFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** PEM. The key is secret. */
export interface TlsIdentity {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/** @throws AppError `certificate_invalid` for files that cannot be read or do not belong together. */
export async function readTlsIdentity({ certificateFile, keyFile }: TlsFiles): Promise<TlsIdentity> {
  const [certificate, key] = await Promise.all([readPem(certificateFile, 'certificate'), readPem(keyFile, 'key')]);
  try {
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    throw new AppError('certificate_invalid', 'the certificate and the key cannot be used together', {
      details: { certificateFile, keyFile },
      cause,
    });
  }
  return { certificate, key };
}

async function readPem(file: string, what: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new AppError('certificate_invalid', `the ${what} file ${file} cannot be read`, { details: { file }, cause });
  }
}
