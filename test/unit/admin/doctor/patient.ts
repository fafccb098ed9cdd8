// A server of which everything is right, for tests that break one thing: real certificates, real sockets, real key sets and
// the real token check; the administration interface in memory.
import { beforeAll } from 'vitest';
import type { AgentsAnswer, DoctorContext, HealthAnswer } from '../../../../src/admin/doctor/context.ts';
import type { Probed } from '../../../../src/admin/doctor/probes.ts';
import type { Endpoint } from '../../../../src/admin/doctor/subject.ts';
import { DOCTOR_CHECKS } from '../../../../src/admin/doctor/checks.ts';
import { runDoctor, type CheckResult } from '../../../../src/admin/doctor/run-doctor.ts';
import type { WantedDataSource } from '../../../../src/admin/lifecycle/ports.ts';
import { readDataSource, type DataSource } from '../../../../src/admin/records.ts';
import type { WebhookRegistration } from '../../../../src/admin/webhook-records.ts';
import { encodeId } from '../../../../src/admin/platform-id.ts';
import { TrustedDataSources } from '../../../../src/auth/data-sources.ts';
import { TokenVerifier } from '../../../../src/auth/jws-verifier.ts';
import { KeySource } from '../../../../src/auth/key-source.ts';
import { NonceBook } from '../../../../src/auth/nonces.ts';
import type { TokenTransport } from '../../../../src/auth/principal.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { CapturedLog, sharedIssuer } from '../../../support/token-bench.ts';
import { KEY_SET_SUFFIX, signToken } from '../../../support/token-issuer.ts';
import {
  certificateAuthority,
  listening,
  type Authority,
  type CertificateOptions,
  type Speaking,
} from '../../../support/certificate-authority.ts';

export const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
export const PROFILE = loadProfile('fake');
const APP = 'C0123456789abcdef';
const LIFETIME_MINUTES = 60;

/** A refusal of the platform. */
export function refused(status: number): AppError {
  return new AppError('platform_refused', `GET /things: the platform refused it: status ${String(status)}`, { details: { status } });
}

/** What a test may break, and the examination itself. */
export interface Patient {
  readonly clock: FakeClock;
  /** Records of the platform; the first is that of gRPC, the second that of WebSocket. */
  readonly records: Record<string, unknown>[];
  wanted: WantedDataSource[];
  readonly webhooks: WebhookRegistration[];
  /** Replaces parts of what is looked at. */
  changes: Partial<DoctorContext>;
  isStored: boolean;
  current: () => Promise<string>;
  list: () => Promise<readonly DataSource[]>;
  webhookList: () => Promise<readonly WebhookRegistration[]>;
  date: string | null;
  health: HealthAnswer;
  knocked: Probed<number>;
  /** What its server says that is asked for agents over each transport. */
  readonly listed: Record<TokenTransport, AgentsAnswer>;
  /** How many agents its configuration has. */
  agents: number;
  readonly keys: KeySource;
  readonly nonces: NonceBook;
  readonly verifier: TokenVerifier;
  /** A token of a data source, good but for the changes. */
  token(transport: TokenTransport, changes?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): string;
  context(): DoctorContext;
  examine(): Promise<readonly CheckResult[]>;
}

/** How its server speaks. */
export interface PatientOptions extends CertificateOptions {
  readonly speaking?: Speaking;
  /** Instead of the port of its server. */
  readonly port?: number;
  readonly host?: string;
  /** What its server answers to who asks for a WebSocket, as {@link listening} takes it. */
  readonly upgrade?: number | null;
  /** Whether the registered addresses are those of a server with TLS; default true. */
  readonly isTls?: boolean;
}

/** Makes patients for the tests of a file. */
export function patients(): {
  readonly admit: (options?: PatientOptions) => Promise<Patient>;
  readonly issuer: ReturnType<typeof sharedIssuer>;
} {
  const issuer = sharedIssuer();
  let authority: Authority | undefined;
  /** One list for all, so that the certificates of Node are read once. */
  const authorities: string[] = [];
  beforeAll(async () => {
    authority = await certificateAuthority(systemClock.nowMs());
    authorities.push(authority.pem);
  });
  return {
    issuer,
    async admit({ speaking = 'both', port: given, host = 'localhost', upgrade, isTls = true, ...certificate } = {}) {
      if (authority === undefined) throw new Error('patients are admitted only within tests');
      const port = given ?? (await listening(speaking, await authority.issue(certificate), upgrade));
      const [http, ws] = isTls ? ['https', 'wss'] : ['http', 'ws'];
      // W-03: the two forms of address.
      const urls = { grpc: `${http}://${host}:${String(port)}/line`, websocket: `${ws}://${host}:${String(port)}` };
      return patientAt(urls, authorities, issuer);
    },
  };
}

function patientAt(
  urls: Readonly<Record<TokenTransport, string>>,
  authorities: readonly string[],
  issuer: ReturnType<typeof sharedIssuer>,
): Patient {
  const clock = new FakeClock(systemClock.nowMs());
  const log = new CapturedLog();
  const transports = ['grpc', 'websocket'] as const;
  const wanted = transports.map((transport) => ({
    ...{
      organizationId: ORG,
      transport,
      url: urls[transport],
      schemaId: PROFILE.schemas[transport],
      tokenLifetimeMinutes: LIFETIME_MINUTES,
    },
    ...{ audience: 'TheAudience', subject: 'theSubject', applicationId: APP },
  }));
  const issuers = [issuer.server.issuer()];
  const keys = new KeySource({ issuers, keySetSuffix: KEY_SET_SUFFIX, allowLoopbackHttp: true, clock, log });
  const nonces = new NonceBook({ clock });
  const dataSources = new TrustedDataSources(wanted.map((each) => ({ id: `source-${each.transport}`, ...each })));
  const { claims } = PROFILE.jws;
  const claimNames = { url: claims.url, schema: claims.schema, organization: claims.org };
  const verifier = new TokenVerifier({ keys, nonces, dataSources, claimNames, clock, log });
  const token: Patient['token'] = (transport, changes = {}, header = {}) => {
    const nowSeconds = Math.floor(clock.nowMs() / 1000);
    const own = {
      ...{ iss: issuer.server.issuer(), aud: 'TheAudience', sub: 'theSubject', jti: `CANARY-nonce-${transport}` },
      ...{ iat: nowSeconds, exp: nowSeconds + LIFETIME_MINUTES * 60 },
      ...{ [claims.url]: urls[transport], [claims.schema]: PROFILE.schemas[transport], [claims.org]: ORG },
    };
    return signToken(issuer.key, { ...own, ...changes }, header);
  };
  const records = transports.map((transport) => {
    nonces.rotate(`source-${transport}`, `CANARY-nonce-${transport}`);
    const own = {
      url: urls[transport],
      schemaId: PROFILE.schemas[transport],
      audience: 'TheAudience',
      subject: 'theSubject',
      applicationId: APP,
    };
    return { ...own, id: `source-${transport}`, nonce: `CANARY-nonce-${transport}`, status: 'active', jwsToken: token(transport) };
  });
  const read = (record: unknown): DataSource => readDataSource(record, claims);
  const patient: Patient = {
    ...{ clock, records, wanted, keys, nonces, verifier, token },
    webhooks: ['authorized', 'deauthorized'].map((event) => webhook(event)),
    changes: {},
    isStored: true,
    current: () => Promise.resolve('CANARY-token'),
    list: () => Promise.resolve(records.map(read)),
    webhookList: () => Promise.resolve(patient.webhooks),
    date: new Date(clock.nowMs()).toUTCString(),
    health: 'serving',
    knocked: { kind: 'connected', value: 401 },
    listed: { grpc: { kind: 'listed', count: 1 }, websocket: { kind: 'listed', count: 1 } },
    agents: 1,
    context: () => ({
      ...{ profile: PROFILE, wanted: patient.wanted, keys, nonces, verifier },
      organizations: [
        {
          id: ORG,
          isStored: () => Promise.resolve(patient.isStored),
          tokens: { current: () => patient.current() },
          dataSources: {
            list: () => patient.list(),
            get: (id) => {
              const record = records.find((each) => (each as Record<string, unknown>)['id'] === id);
              return record === undefined ? Promise.reject(refused(404)) : Promise.resolve(read(record));
            },
          },
        },
      ],
      times: { leadMs: 20 * 60_000, retryMs: 60_000, checkMs: 60_000 },
      store: { place: 'redis://store.example.test', examine: () => Promise.resolve([]) },
      platformDate: () => Promise.resolve(patient.date),
      webhooks: {
        list: () => patient.webhookList(),
        knock: () => Promise.resolve(patient.knocked),
        targetUrl: TARGET,
        applicationId: APP,
      },
      health: (_endpoint: Endpoint) => Promise.resolve(patient.health),
      listAgents: ({ transport }) => Promise.resolve(patient.listed[transport]),
      socketPath: '/v1/va',
      agents: () => Promise.resolve(patient.agents),
      authorities,
      ...patient.changes,
    }),
    examine: () => runDoctor(DOCTOR_CHECKS, patient.context(), { signal: new AbortController().signal, clock, perCheckMs: 5000 }),
  };
  return patient;
}

const TARGET = 'https://voice.example.test/hooks';

/** One of the webhooks there must be. */
export function webhook(event: string, changes: Partial<WebhookRegistration> = {}): WebhookRegistration {
  const filter = `id=${encodeId(APP, 'APPLICATION', PROFILE.ids?.urnScheme ?? '')}`;
  const own = { id: `hook-${event}`, name: event, targetUrl: TARGET, event, filter, secret: 'CANARY-secret', status: 'active' };
  return { resource: PROFILE.webhook?.appResource, ...own, ...changes };
}

/** The report of all findings: where, what, and how to mend it. */
export function saidIn(results: readonly CheckResult[]): readonly string[] {
  return results.flatMap(({ findings }) => findings.map(({ where, what, mend }) => `${where}: ${what}; ${mend}`));
}

/** Everything that was found, as `id/code`. */
export function foundIn(results: readonly CheckResult[]): readonly string[] {
  return results.flatMap(({ id, findings }) => findings.map(({ code }) => `${id}/${code}`));
}

/** Ids of checks that were not made, each once. */
export function skippedIn(results: readonly CheckResult[]): readonly string[] {
  return [...new Set(results.flatMap(({ id, state }) => (state === 'skipped' ? [id] : [])))];
}
