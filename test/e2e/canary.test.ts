// No secret in anything that can be read (R-13, P-14): a whole life of the administration, with everything that fails on the
// way, against a platform that repeats what it was sent. Everything the server and the commands say or write is kept, and in the end
// looked through for every secret that passed between us and the platform, in every spelling.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { errorFields } from '../../src/base/error-fields.ts';
import { configCommand } from '../../src/cli/config.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { agreeInBrowser } from '../../src/fake-platform/platform/browser.ts';
import { startServed } from '../renewal/served.ts';
import { OTHER_FLAGS, runAdmin, runCommand, type AdminEnd } from '../support/admin-command.ts';
import { textsIn } from '../support/admin-server.ts';
import { adminSurroundings, type AdminSurroundings } from '../support/admin-surroundings.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { repeatingPlatform, type RepeatingPlatform, type Repetition } from '../support/repeating-platform.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
/** What fails is tried again at once; what is well is left alone, so that every planned failure meets its own request. */
const PAUSES = ['--admin.data_sources.retry_interval_s=1', '--admin.data_sources.check_interval_s=3600'];
const LOUD = ['--log.level=trace'];
const WRONG_SECRET = 'CANARY-not-the-secret';

/** Something that can be read by somebody. */
interface Readable {
  readonly where: string;
  readonly text: string;
}

/** The life, and everything that was said and written in it. */
class Life {
  readonly around: AdminSurroundings;
  readonly platform: RepeatingPlatform;
  readonly readable: Readable[] = [];
  #servers = 0;

  constructor(around: AdminSurroundings, platform: RepeatingPlatform) {
    this.around = around;
    this.platform = platform;
  }

  get flags(): readonly string[] {
    const { origin, baseUrl } = this.around.api;
    return [...this.around.flags, `--admin.base_url=${baseUrl.replace(origin, this.platform.origin)}`, ...PAUSES, ...LOUD];
  }

  says(where: string, text: string): void {
    this.readable.push({ where, text });
  }

  serve(...more: readonly string[]): Promise<App> {
    this.#servers += 1;
    const where = `log of server ${String(this.#servers)}`;
    const write = (line: string): void => {
      this.says(where, line);
    };
    return startServed(this.around, { clock: systemClock, organizations: [ORG], flags: [...this.flags, ...more], write });
  }

  /** A server that does not come up. */
  async fails(what: string, ...more: readonly string[]): Promise<void> {
    const thrown: unknown = await this.serve('--admin.fail_startup=true', ...more).then(
      async (app) => {
        await app.close();
        return undefined;
      },
      (cause: unknown) => cause,
    );
    expect(thrown, what).toBeInstanceOf(Error);
    this.says(`error: ${what}`, `${textsIn(thrown).join('\n')}\n${JSON.stringify(errorFields(thrown))}\n${String(thrown)}`);
  }

  /** `parley admin …` as people and as programs read it. */
  async run(...argv: readonly string[]): Promise<AdminEnd> {
    const end = await runAdmin([...argv, ...this.flags]);
    this.heard(`parley admin ${argv.join(' ')}`, end);
    return end;
  }

  heard(where: string, { out, err }: Pick<AdminEnd, 'out' | 'err'>): void {
    this.says(where, out + err);
  }

  /** The next request of this kind fails and is repeated in the answer. */
  repeats(request: RegExp, code: number, oauthError?: string): void {
    const repetition: Repetition = { request, status: code, ...(oauthError === undefined ? {} : { oauthError }) };
    this.platform.repetitions.push(repetition);
  }

  logged(text: string): boolean {
    return this.readable.some(({ where, text: line }) => where.startsWith('log of') && line.includes(text));
  }

  /** Everything that was ever secret. */
  get secrets(): readonly string[] {
    const { api, key } = this.around;
    const given = [key, api.integration.clientSecret, api.serviceApp.clientSecret, ...api.webhooks().map(({ secret = '' }) => secret)];
    const records = api.dataSources(ORG).flatMap(({ jwsToken, previousJwsToken = '', nonce }) => [jwsToken, previousJwsToken, nonce]);
    const all = new Set([...this.platform.secrets, ...given, ...records].filter((secret) => secret !== ''));
    // The claims of a token and its signature alone are as bad.
    return [...all].flatMap((secret) => (secret.startsWith('eyJ') ? secret.split('.').slice(1) : [secret]));
  }
}

/** A secret as it may be found: as it is, in an address, encoded, and as the bytes that a hex text stands for. */
function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const raw = /^[0-9a-f]{64}$/u.test(secret) ? Buffer.from(secret, 'hex') : undefined;
  const coded = [bytes, ...(raw === undefined ? [] : [raw])].flatMap((part) => [
    ...[part.toString('base64').replace(/=+$/u, ''), part.toString('base64url'), part.toString('hex'), part.toString('latin1')],
  ]);
  return [...new Set([secret, encodeURIComponent(secret), ...coded])];
}

/**
 * Reads every file of the store's folder whenever it changes, so that files which are there for a moment are read as well.
 *
 * @returns what ends it.
 */
function watchFiles(life: Life): () => void {
  const folder = path.dirname(life.around.storeFile);
  const watcher = watch(folder, () => {
    readFiles(life, folder);
  });
  const close = (): void => {
    watcher.close();
  };
  onTestFinished(close);
  return close;
}

function readFiles(life: Life, folder = path.dirname(life.around.storeFile)): void {
  for (const name of readdirSync(folder)) {
    life.says(`file name`, name);
    try {
      life.says(`file ${name.replace(/\d+/gu, 'N')}`, readFileSync(path.join(folder, name), 'latin1'));
    } catch {
      // Gone by now, or the folder that is the lock.
    }
  }
}

/** How calls end that come with these values. */
async function call(app: App, ...authorizations: readonly (string | undefined)[]): Promise<readonly status[]> {
  const codes: status[] = [];
  for (const authorization of authorizations) {
    const client = new PlatformClient({ target: `localhost:${String(app.ready.port)}`, organizationId: ORG, authorization });
    const { ending } = await client.call().turn(event('SESSION_START'));
    codes.push(ending.code);
    client.close();
  }
  return codes;
}

async function readPages(life: Life, app: App): Promise<void> {
  const secret = life.secrets[0] ?? '';
  const paths = [
    'metrics',
    'calls',
    'health/live',
    'health/ready',
    'parley/v1/ping',
    `calls/${randomUUID()}`,
    `calls/${secret}`,
    'nothing',
  ];
  for (const page of paths) {
    const answer = await fetch(`http://127.0.0.1:${String(app.ready.opsPort)}/${page}`);
    life.says(`page ${page === `calls/${secret}` ? 'calls/SECRET' : page}`, await answer.text());
  }
}

/** Somebody logs in: first it fails in every way, then it does not. */
async function logIn(life: Life): Promise<void> {
  const { signal } = new AbortController();
  const follow = async (argv: readonly string[]): Promise<AdminEnd> => {
    let browsing: Promise<void> | undefined;
    const onErr = (text: string): void => {
      const address = /^ {2}(?<address>http:\S+)$/mu.exec(text)?.groups?.['address'];
      if (address !== undefined) browsing = agreeInBrowser(address, signal).catch(() => undefined);
    };
    const end = await runAdmin(['login', ...life.flags, ...argv], { onErr });
    await browsing;
    // The address is there to be opened, and the state in it to come back; nothing else may hold it.
    life.heard('parley admin login', { out: end.out, err: end.err.replace(/^ {2}http:\S+$/mu, '') });
    return end;
  };
  life.repeats(/^POST .*access_token/u, 400, 'invalid_grant');
  expect((await follow([])).code).toBe(1);
  life.repeats(/^POST .*access_token/u, 401, 'invalid_client');
  expect((await follow(['--json'])).code).toBe(1);
  expect((await follow([`--admin.integration.client_secret=${WRONG_SECRET}`])).code).toBe(1);
  expect((await follow([])).code).toBe(0);
}

/** What the server asks, each time with an answer that repeats it. */
async function suffer(life: Life, app: App): Promise<void> {
  const { api } = life.around;
  const renewals = (): number => life.readable.filter(({ text }) => text.includes('"transition":"renewed"')).length;
  for (const [request, code, oauthError] of [
    [/^PUT .*dataSources/u, 400],
    [/^PUT .*dataSources/u, 409],
    [/^PUT .*dataSources/u, 401],
    [/^PUT .*dataSources/u, 500],
    [/^GET .*dataSources/u, 403],
    [/^POST .*access_token/u, 400, 'invalid_grant'],
    [/^POST .*applications/u, 403],
  ] as const) {
    const [done, played] = [renewals(), life.platform.repeated.length];
    life.repeats(request, code, oauthError);
    // Authorized anew, it renews at once, with tokens that are new as well.
    if (oauthError !== undefined || request.source.includes('applications')) api.revokeTokens(api.serviceApp.clientId);
    api.authorize(ORG);
    const isPlayed = (): boolean => life.platform.repeated.length > played;
    await until(`${request.source} fails with ${String(code)}`, isPlayed);
    // What only people mend is done again at the next look, or as soon as they have mended it.
    if (request.source.includes('applications')) api.authorize(ORG);
    await until(`${request.source} is done again after ${String(code)}`, () => renewals() > done);
  }
  const [source] = api.dataSources(ORG);
  const [good = '', before = ''] = [source?.jwsToken, source?.previousJwsToken];
  const forged = `${good.slice(0, -8)}AAAAAAAA`;
  expect(await call(app, good, `Bearer ${good}`, before, forged, `Basic ${good}`, source?.nonce, undefined)).toEqual([
    ...[status.OK, status.OK, status.OK],
    ...Array.from({ length: 4 }, () => status.UNAUTHENTICATED),
  ]);
  // Deliveries of strangers, one with what it should not know.
  const target = `http://127.0.0.1:${String(life.around.webhookPort)}/webhooks`;
  for (const body of ['{', JSON.stringify({ resource: good, event: source?.nonce, data: { id: api.webhooks()[0]?.secret } })]) {
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json', authorization: good }, body });
    expect(answer.status).toBe(401);
    life.says('answer to a delivery', await answer.text());
  }
}

/** Commands beside a running server, and alone with the store. */
async function lookAround(life: Life): Promise<void> {
  const { api } = life.around;
  const source = (): string => api.dataSources(ORG)[0]?.id ?? '';
  for (const argv of [
    ['orgs', 'list'],
    ['orgs', 'show', ORG],
    ['data-sources', 'list'],
    ['data-sources', 'get', source(), '--org', ORG],
    ['schemas', 'list'],
    ['webhooks', 'list'],
  ]) {
    expect((await life.run(...argv)).code, argv.join(' ')).toBe(0);
    expect((await life.run(...argv, '--json')).code, argv.join(' ')).toBe(0);
  }
  life.repeats(/^GET .*dataSources/u, 400);
  expect((await life.run('data-sources', 'get', source(), '--org', ORG)).code).toBe(1);
  life.heard(
    'parley config',
    await runCommand(
      configCommand(() => undefined),
      [...life.flags, ...OTHER_FLAGS],
    ),
  );
  life.heard(
    'parley config --json',
    await runCommand(
      configCommand(() => undefined),
      [...life.flags, ...OTHER_FLAGS, '--json'],
    ),
  );
  life.heard(
    'parley doctor',
    await runCommand(
      doctorCommand(() => undefined, false),
      [...life.flags, ...OTHER_FLAGS, '--json'],
    ),
  );
}

async function changeManually(life: Life): Promise<void> {
  expect((await life.run('webhooks', 'ensure')).code).toBe(0);
  expect((await life.run('data-sources', 'renew', '--org', ORG)).code).toBe(0);
  life.repeats(/^PUT .*dataSources/u, 400);
  expect((await life.run('data-sources', 'renew', '--org', ORG)).code).toBe(1);
  expect((await life.run('orgs', 'forget', ORG, '--yes')).code).toBe(0);
}

/** The store is not to be read. */
async function spoil(life: Life): Promise<void> {
  const { storeFile, key } = life.around;
  const whole = readFileSync(storeFile);
  await life.fails('a store with another key', `--admin.store.keys=${JSON.stringify(['ab'.repeat(32)])}`);
  await life.fails('a key that is none', `--admin.store.keys=${JSON.stringify([key.slice(1)])}`);
  for (const [what, bytes] of [
    ['a store that is cut off', whole.subarray(0, whole.length / 2)],
    ['a store that is something else', Buffer.from(`{"version":1,"entries":{"k":"${life.secrets[0] ?? ''}"}`)],
  ] as const) {
    writeFileSync(storeFile, bytes);
    await life.fails(what);
  }
  writeFileSync(storeFile, whole);
}

it('R-13 P-14 no secret is in a log line, an error, a page, a metric, the output of a command, or a file', async () => {
  const around = await adminSurroundings({ isLoggedIn: false, switches: { consent: 'ask', refreshTokens: 'rotate', oauthErrors: true } });
  const platform = await repeatingPlatform(around.api.origin);
  onTestFinished(() => platform.close());
  const life = new Life(around, platform);
  const watched = watchFiles(life);
  await life.fails('nobody has logged in');
  await logIn(life);
  life.repeats(/^POST .*webhooks/u, 409);
  await life.fails('a platform that repeats the secret of a webhook');
  around.api.authorize(ORG);
  await life.fails('a wrong client secret', `--admin.service_app.client_secret=${WRONG_SECRET}`);
  life.repeats(/^POST .*applications/u, 409);
  await life.fails('a platform that repeats the client secret');
  const app = await life.serve();
  await suffer(life, app);
  await lookAround(life);
  await readPages(life, app);
  around.api.deauthorize(ORG);
  await until('it is forgotten', () => life.logged('"transition":"forgotten"'));
  around.api.authorize(ORG);
  // The platform has not deleted its data source, so what counts is that the server has tokens of it again.
  await until('it is served again', async () => (await life.run('data-sources', 'list', '--org', ORG)).code === 0);
  await readPages(life, app);
  await app.close();
  await changeManually(life);
  const secrets = life.secrets;
  readFiles(life);
  // What is written into the file next is ours.
  watched();
  await spoil(life);

  // It went the whole way: every kind of secret has passed, all that was planned went wrong, and everything has been kept.
  expect(platform.repetitions).toEqual([]);
  expect(secrets.length).toBeGreaterThan(40);
  expect(life.readable.some(({ where }) => where.startsWith('log of'))).toBe(true);
  expect(life.logged('"level":"trace"') || life.logged('"level":"debug"')).toBe(true);
  // The words of the platform were passed on, without what is secret in them.
  expect(life.logged('[hidden]')).toBe(true);
  expect(life.readable.some(({ where }) => where === 'file admin.store')).toBe(true);
  const patterns = [...new Set([...secrets, WRONG_SECRET].flatMap(spellings))];
  const holding = (readable: readonly Readable[]): readonly Readable[] =>
    readable.filter(({ text }) => patterns.some((pattern) => text.includes(pattern)));
  // The search finds what is there.
  expect(holding(patterns.map((pattern) => ({ where: 'here', text: `"${pattern}"` })))).toHaveLength(patterns.length);
  expect(holding(life.readable).map(({ where, text }) => `${where}: ${text.slice(0, 2000)}`)).toEqual([]);
}, 400_000);
