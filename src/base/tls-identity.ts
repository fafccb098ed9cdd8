// The TLS identity of a server: a certificate and its key in PEM, checked together, and their replacement in a listening server. Opens no
// socket and no file.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions, type Server } from 'node:tls';
import { AppError } from './errors.ts';
import type { Live } from './live-value.ts';

const PEM_BLOCK = /-{5}BEGIN (?<kind>[^-]+)-{5}[^]*?-{5}END \k<kind>-{5}/gu;
/** A PEM boundary line, also a truncated one. */
const PEM_LINE = /-{5}(?:BEGIN|END)/u;

/** Absolute paths of certificate and key. */
export interface TlsFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** PEM. The key is secret. */
export interface TlsIdentity {
  readonly certificate: Buffer;
  readonly key: Buffer;
  /** The validity of the server's own certificate, ms since the epoch; the rest of the chain does not count. */
  readonly beginsAtMs: number;
  readonly endsAtMs: number;
}

/**
 * Checks certificate and key together.
 *
 * @param files - where certificate and key come from, for the error.
 * @throws AppError `certificate_invalid` for invalid PEM, or a key of another certificate; the validity period is not checked.
 */
export function tlsIdentity(certificate: Buffer, key: Buffer, { certificateFile, keyFile }: TlsFiles): TlsIdentity {
  const { validFrom, validTo } = read(certificateFile, 'certificate', () => new X509Certificate(certificate));
  // TLS would silently send only the part of a chain that stands before a truncated boundary line.
  if (PEM_LINE.test(certificate.toString('latin1').replaceAll(PEM_BLOCK, ''))) {
    throw new AppError('certificate_invalid', `the file ${certificateFile} is cut off`, { details: { file: certificateFile } });
  }
  read(keyFile, 'key', () => createPrivateKey(key));
  try {
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    throw new AppError('certificate_invalid', 'the certificate and the key cannot be used together', {
      details: { certificateFile, keyFile },
      cause,
    });
  }
  return { certificate, key, beginsAtMs: Date.parse(validFrom), endsAtMs: Date.parse(validTo) };
}

/**
 * Uses the current identity for new handshakes of a server; open connections keep theirs. Ends with the server.
 *
 * @param sources - the live values that `context` is made of.
 */
export function followIdentity(server: Server, context: () => SecureContextOptions, sources: readonly Live<unknown>[]): void {
  for (const source of sources) {
    const leave = source.onChange(() => {
      server.setSecureContext(context());
    });
    server.once('close', leave);
  }
}

function read<T>(file: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new AppError('certificate_invalid', `the file ${file} holds no ${what} in PEM`, { details: { file }, cause });
  }
}
