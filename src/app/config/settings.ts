// The operator's settings in code: camelCase, deeply frozen, with all defaults. Meanings, defaults and bounds are documented in
// config/default.yaml. A setting that is disabled by '' is undefined here.
import type { TlsFiles } from '../../base/tls-identity.ts';
import type { Compiled, SCHEMA } from './schema.ts';

/** The settings before the rules between them are checked: each value is valid by itself. */
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
  /** Absolute path of a PEM file; undefined: the authority in the profile. */
  readonly caFile: string | undefined;
  /** When empty, and without `subjectsFile`, the subjects in the profile apply. */
  readonly subjects: readonly string[];
  /** Absolute path of a file with further subjects. */
  readonly subjectsFile: string | undefined;
}

/** Everything an operator can set. */
export type Settings = Omit<CompiledSettings, 'tls'> & { readonly tls: TlsSettings };
