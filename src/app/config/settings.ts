// The operator's settings as the program sees them: the schema's keys in camelCase, frozen in depth, every default filled in. What a
// key means, its default and its bounds are written once, in config/default.yaml. What '' switches off there is undefined here.
import type { TlsFiles } from '../../base/tls-identity.ts';
import type { Compiled, SCHEMA } from './schema.ts';

/** The settings before the last step: every value is right in itself. */
export type CompiledSettings = Compiled<typeof SCHEMA>;

/** How the servers are secured. Files are absolute paths of PEM files. */
export type TlsSettings =
  | { readonly mode: 'off' }
  | ({ readonly mode: 'files' } & TlsFiles & {
        /** Undefined: clients of the media server show no certificate. */
        readonly clients: ClientCertificateSettings | undefined;
      });

/** Which certificates clients of the media server must show (O-11, O-12). */
export interface ClientCertificateSettings {
  /** Absolute path of a PEM file; undefined: the authority of the profile. */
  readonly caFile: string | undefined;
  /** Empty, and without a file of them: those of the profile. */
  readonly subjects: readonly string[];
  /** Absolute path of a file with more of them. */
  readonly subjectsFile: string | undefined;
}

/** Everything an operator can set. */
export type Settings = Omit<CompiledSettings, 'tls'> & { readonly tls: TlsSettings };
