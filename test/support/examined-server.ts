// A healthy whole for `parley doctor`: the fake platform, a server with TLS that is registered for both transports at its real
// ports, and a way to break one thing of it. Each test admits an organization of its own, so that what it breaks harms no other.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DOCTOR_CHECKS } from '../../src/admin/doctor/checks.ts';
import type { CheckId } from '../../src/admin/doctor/check.ts';
import { tokensKey } from '../../src/admin/organizations.ts';
import type { DataSourceUpdate } from '../../src/admin/records.ts';
import { openAdminAccess, type AdminAccess } from '../../src/app/admin-access.ts';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { TokenTransport } from '../../src/auth/principal.ts';
import { createLogger } from '../../src/base/log.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import type { DoctorReport } from '../../src/cli/doctor-text.ts';
import type { DataSourceRecord } from '../../src/fake-platform/platform/data-source-book.ts';
import { runCommand, type AdminEnd } from './admin-command.ts';
import { certificateAuthority, type Authority } from './certificate-authority.ts';
import { freePort } from './free-port.ts';
import { openSurroundings, type OpenSurroundings } from './open-surroundings.ts';
import { RunningServer, serverFlags, WITH_TEST_BOTS } from './running-server.ts';
import { until } from './until.ts';

/** What the doctor said. */
export interface Diagnosis {
  readonly end: AdminEnd;
  readonly report: DoctorReport;
  /** As `check/code`, each once: some things are wrong with the data sources of both transports. */
  readonly found: readonly string[];
  /** Ids, each once. */
  readonly skipped: readonly string[];
}

/** Platform, server and doctor. Whoever opens it closes it. */
export class ExaminedServer {
  readonly surroundings: OpenSurroundings;
  readonly server: RunningServer;
  /** Signs certificates that the doctor trusts. */
  readonly authority: Authority;
  /** Looks at the platform with the kept tokens. */
  readonly access: AdminAccess;
  /** Everything that the doctor printed, to search it for secrets. */
  readonly printed: string[] = [];
  readonly #secrets = new Set<string>();
  readonly #flags: readonly string[];
  readonly #organizations: string[] = [];

  readonly #folder: string;

  private constructor(
    parts: Pick<ExaminedServer, 'surroundings' | 'server' | 'authority' | 'access'>,
    flags: readonly string[],
    folder: string,
  ) {
    this.surroundings = parts.surroundings;
    this.server = parts.server;
    this.authority = parts.authority;
    this.access = parts.access;
    this.#flags = flags;
    this.#folder = folder;
  }

  /** @param flags - of the server; the doctor has the same. */
  static async open(flags: readonly string[]): Promise<ExaminedServer> {
    const [port, socketPort] = [await freePort(), await freePort()];
    const surroundings = await openSurroundings({ url: `https://localhost:${String(port)}` });
    surroundings.api.switches.requestsPerMinute = 0;
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-examined-'));
    const authority = await certificateAuthority(systemClock.nowMs());
    writeFileSync(path.join(folder, AUTHORITY_FILE), authority.pem);
    const tls = await tlsFlags(authority, folder);
    const sockets = [
      ...['--websocket.enabled=true', '--websocket.host=127.0.0.1', `--websocket.port=${String(socketPort)}`],
      ...[
        `--admin.data_sources.websocket_url=wss://localhost:${String(socketPort)}`,
        '--admin.data_sources.transports=["grpc","websocket"]',
      ],
    ];
    const own = [...WITH_TEST_BOTS, ...surroundings.flags, ...tls, `--grpc.port=${String(port)}`, ...sockets, ...flags];
    const server = await RunningServer.start({ flags: own, dataSources: () => [] });
    const all = [...serverFlags(server.issuer, server.certificate, []), ...own, '--log.level=warn'];
    const { admin } = loadSettings({ argv: all, env: {} }).settings;
    const parts = { profile: loadProfile('fake'), clock: systemClock, log: createLogger({ level: 'silent' }), purpose: 'read' } as const;
    const access = await openAdminAccess(admin, parts);
    return new ExaminedServer({ surroundings, server, authority, access }, all, folder);
  }

  /** Flags of a further server with a certificate that the doctor trusts. */
  tlsFlags(): Promise<readonly string[]> {
    return tlsFlags(this.authority, mkdtempSync(path.join(this.#folder, 'server-')));
  }

  /** The address that is registered for gRPC unless a test registers another. */
  get url(): string {
    return `https://${this.server.target}`;
  }

  /** An organization that authorizes the app. Resolves when the server has registered its data sources. */
  async admit(organization: string = randomUUID()): Promise<string> {
    this.surroundings.api.authorize(organization);
    this.#organizations.push(organization);
    await until(
      () => `the data sources of ${organization} are registered`,
      () => this.server.logged({ event: 'data_source', transition: 'created', organizationId: organization }).length === 2,
    );
    await this.#noteSecrets();
    return organization;
  }

  /** The record of a data source of an organization. */
  record(organization: string, transport: TokenTransport = 'grpc'): DataSourceRecord {
    const schemaId = loadProfile('fake').schemas[transport];
    const found = this.surroundings.api.dataSources(organization).find((each) => each.schemaId === schemaId);
    if (found === undefined) throw new Error('there is no such data source');
    return found;
  }

  /** Changes a record of an organization behind the server's back. */
  async change(organization: string, changes: DataSourceUpdate, transport?: TokenTransport): Promise<void> {
    const api = this.access.dataSourcesOf(organization);
    const before = this.record(organization, transport);
    const { audience, subject, nonce, schemaId, url, tokenLifetimeMinutes } = before;
    await api.update(before.id, { audience, subject, nonce, schemaId, url, tokenLifetimeMinutes, ...changes }, NEVER);
    await this.#noteSecrets();
  }

  /** As {@link change}, with another token whose nonce is the old one. */
  async sign(organization: string, changes: DataSourceUpdate, transport?: TokenTransport): Promise<void> {
    const { nonce } = this.record(organization, transport);
    await this.change(organization, { nonce: randomUUID() }, transport);
    await this.change(organization, { ...changes, nonce }, transport);
  }

  /** What follows `parley doctor` for the configuration of the server. */
  argv(options: readonly string[], flags: readonly string[] = []): readonly string[] {
    return ['--ca', this.authorityFile, ...options, ...this.#flags, ...flags];
  }

  /** PEM of the authority that has signed the server's certificate. */
  get authorityFile(): string {
    return path.join(this.#folder, AUTHORITY_FILE);
  }

  /**
   * Runs `parley doctor` with the configuration of the server.
   *
   * @param flags - settings that win over those of the server.
   * @param surroundings.isWatched - whether somebody watches; default nobody.
   */
  async run(
    options: readonly string[],
    flags: readonly string[] = [],
    surroundings: { readonly isWatched?: boolean } = {},
  ): Promise<AdminEnd> {
    const command = doctorCommand(() => undefined, surroundings.isWatched ?? false);
    const end = await runCommand(command, this.argv(options, flags));
    this.printed.push(end.out, end.err);
    return end;
  }

  /** {@link run} with `--json`, and what it found. */
  async examine(options: readonly string[], flags: readonly string[] = []): Promise<Diagnosis> {
    const end = await this.run(['--json', ...options], flags);
    // Written by the command under test; what is wrong with it shows in what is expected of it.
    const report = JSON.parse(end.out) as DoctorReport;
    return {
      ...{ end, report },
      found: [...new Set(report.checks.flatMap(({ id, findings }) => findings.map(({ code }) => `${id}/${code}`)))],
      skipped: [...new Set(report.checks.flatMap(({ id, state }) => (state === 'skipped' ? [id] : [])))],
    };
  }

  /** Secrets that were there at any time. */
  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  async close(): Promise<void> {
    await this.access.close();
    await this.server.close();
    await this.surroundings.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #noteSecrets(): Promise<void> {
    const { api, key } = this.surroundings;
    const kept = await Promise.all(this.#organizations.map((id) => this.access.store.get(tokensKey(id))));
    const tokens = kept.flatMap((text) =>
      [...(text ?? '').matchAll(/"(?:accessToken|refreshToken)":"([^"]+)"/gu)].map((match) => match[1]),
    );
    const records = this.#organizations.flatMap((id) => api.dataSources(id).flatMap(({ nonce, jwsToken }) => [nonce, jwsToken]));
    const apps = [api.integration.clientSecret, api.serviceApp.clientSecret, ...api.webhooks().map(({ secret }) => secret)];
    for (const secret of [key, ...tokens, ...records, ...apps]) if (secret !== undefined) this.#secrets.add(secret);
  }
}

const AUTHORITY_FILE = 'authority.pem';

async function tlsFlags(authority: Authority, folder: string): Promise<readonly string[]> {
  const { cert, key } = await authority.issue();
  const [certificateFile, keyFile] = [path.join(folder, 'certificate.pem'), path.join(folder, 'key.pem')];
  writeFileSync(certificateFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return [`--tls.certificate_file=${certificateFile}`, `--tls.key_file=${keyFile}`];
}

const NEVER = new AbortController().signal;

/** Checks that are left out when this one has found a fault. */
export function dependants(of: CheckId): ReadonlySet<string> {
  const found = new Set<CheckId>([of]);
  for (const { id, needs } of DOCTOR_CHECKS) if (needs.some((need) => found.has(need))) found.add(id);
  found.delete(of);
  return found;
}
