// The operator's settings as the program sees them: camelCase, deeply frozen, with all defaults. Meanings, defaults and bounds are
// documented in config/default.yaml. A setting that '' disables is undefined here.
import type { TlsFiles } from '../../base/tls-identity.ts';
import type { Compiled, SCHEMA } from './schema.ts';

/** The settings before the last step: every value is valid in itself. */
export type CompiledSettings = Compiled<typeof SCHEMA>;

/** TLS of the servers. Files are absolute paths of PEM files. */
export type TlsSettings =
  | { readonly mode: 'off' }
  | ({ readonly mode: 'files' } & TlsFiles & {
        /** Undefined: clients of the media server need no certificate. */
        readonly clients: ClientCertificateSettings | undefined;
      });

/** The certificates that clients of the media server must show (O-11, O-12). */
export interface ClientCertificateSettings {
  /** Absolute path of a PEM file; undefined: the authority of the profile. */
  readonly caFile: string | undefined;
  /** Empty when no file is given either: then the subjects of the profile apply. */
  readonly subjects: readonly string[];
  /** Absolute path of a file with more of them. */
  readonly subjectsFile: string | undefined;
}

/** Everything an operator can set. */
export type Settings = Omit<CompiledSettings, 'tls'> & { readonly tls: TlsSettings };
