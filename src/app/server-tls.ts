// TLS with the operator's settings: the certificate of all servers, and the client authorities that the media server trusts. Reads the
// files at start and after changes (O-10). Refuses an invalid change and keeps the previous state.
import { authoritiesIn, bundledAuthority, subjectLines, writtenSubjectKey, type ClientTrust } from '../base/client-trust.ts';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { LiveValue, type Live } from '../base/live-value.ts';
import type { Logger } from '../base/log.ts';
import { tlsIdentity, type TlsFiles, type TlsIdentity } from '../base/tls-identity.ts';
import { readFiles, type WatchedFiles } from '../base/watched-files.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { FileMetrics, Watched } from '../telemetry/file-metrics.ts';
import type { ListenerSecurity } from '../transport/socket-listener.ts';
import type { ClientCertificateSettings, Settings } from './config/settings.ts';

export interface ServerTlsParts {
  readonly profile: PlatformProfile;
  /** Watches the files for changes. */
  readonly files: WatchedFiles<Watched>;
  readonly metrics: FileMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ServerTls {
  readonly media: ListenerSecurity;
  /** Without client certificates: WebSocket clients show none (W-09). */
  readonly sockets: ListenerSecurity;
  /** Undefined without TLS. */
  readonly identity: Live<TlsIdentity> | undefined;
}

const NOTHING = Buffer.alloc(0);

/**
 * Reads the files for the first time.
 *
 * @throws AppError `certificate_invalid` for unusable PEM files, `config_invalid` when neither settings nor profile say which clients to
 * accept.
 */
export async function openServerTls({ tls }: Pick<Settings, 'tls'>, parts: ServerTlsParts): Promise<ServerTls> {
  if (tls.mode === 'off') return { media: tls, sockets: tls, identity: undefined };
  const identity = await openIdentity(tls, parts);
  const sockets: ListenerSecurity = { mode: 'tls', identity };
  if (tls.clients === undefined) return { media: sockets, sockets, identity };
  const trust = await openClientTrust(tls.clients, parts);
  return { media: { ...sockets, clients: { trust, onRefused: parts.metrics.clientRefused } }, sockets, identity };
}

async function openIdentity(tls: TlsFiles, { files, metrics, clock, log }: ServerTlsParts): Promise<Live<TlsIdentity>> {
  const watched = [tls.certificateFile, tls.keyFile];
  const read = ([certificate = NOTHING, key = NOTHING]: readonly Buffer[]): TlsIdentity => tlsIdentity(certificate, key, tls);
  const identity = new LiveValue(read(await readFiles(watched, 'certificate_invalid')));
  metrics.certificateEnds(identity.current.endsAtMs);
  const unfit = unfitness(identity.current, clock);
  // Only a warning, because at the start there is no previous certificate to keep.
  if (unfit !== undefined) log.warn({ files: watched }, `clients will refuse the certificate: ${unfit}`);
  files.follow({
    what: 'certificate',
    files: watched,
    code: 'certificate_invalid',
    take: (contents) => {
      const { certificate, key } = identity.current;
      if (certificate.equals(contents[0] ?? NOTHING) && key.equals(contents[1] ?? NOTHING)) return false;
      const next = read(contents);
      const why = unfitness(next, clock);
      if (why !== undefined) throw new AppError('certificate_invalid', why, { details: { file: tls.certificateFile } });
      identity.set(next);
      metrics.certificateEnds(next.endsAtMs);
      return true;
    },
  });
  return identity;
}

/** Why clients would reject the certificate now; undefined when they accept it. */
function unfitness({ beginsAtMs, endsAtMs }: TlsIdentity, clock: Clock): string | undefined {
  const nowMs = clock.nowMs();
  if (endsAtMs <= nowMs) return `it ended at ${new Date(endsAtMs).toISOString()}`;
  return beginsAtMs > nowMs ? `it begins at ${new Date(beginsAtMs).toISOString()}` : undefined;
}

async function openClientTrust(settings: ClientCertificateSettings, { profile, files, clock }: ServerTlsParts): Promise<Live<ClientTrust>> {
  const { caFile, subjectsFile } = settings;
  const watched = [caFile, subjectsFile].flatMap((file) => (file === undefined ? [] : [file]));
  const proposed = caFile === undefined ? [profileAuthority(profile)] : [];
  const read = (contents: readonly Buffer[]): ClientTrust => {
    const authorities = caFile === undefined ? proposed : authoritiesIn(contents[0] ?? NOTHING, caFile, clock.nowMs());
    const listed = subjectsFile === undefined ? [] : subjectLines(contents.at(-1) ?? NOTHING, subjectsFile);
    return { authorities, subjects: new Set(subjectsOf([...settings.subjects, ...listed], profile).map(writtenSubjectKey)) };
  };
  const first = await readFiles(watched, 'certificate_invalid');
  const trust = new LiveValue(read(first));
  let inUse = first;
  files.follow({
    what: 'client_trust',
    files: watched,
    code: 'certificate_invalid',
    take: (contents) => {
      if (contents.every((content, index) => inUse[index]?.equals(content))) return false;
      trust.set(read(contents));
      inUse = contents;
      return true;
    },
  });
  return trust;
}

/** The authority that the profile names, from Node's list (O-11). */
function profileAuthority({ mtls, name }: PlatformProfile): string {
  const authority = mtls === undefined ? undefined : bundledAuthority(mtls.rootCa);
  if (authority !== undefined) return authority;
  const why = mtls === undefined ? 'names no authority' : `names "${mtls.rootCa}", which this runtime does not bring along`;
  throw new AppError('config_invalid', `the platform "${name}" ${why}: set tls.client_ca_file to the PEM file of the authority`);
}

/** The client names in the settings; if empty, those in the profile (O-12). */
function subjectsOf(listed: readonly string[], { mtls, name }: PlatformProfile): readonly string[] {
  if (listed.length > 0) return listed;
  if (mtls !== undefined && mtls.clientSubjects.length > 0) return mtls.clientSubjects;
  throw new AppError('config_invalid', `the platform "${name}" names no subjects of client certificates: list them in tls.client_subjects`);
}
