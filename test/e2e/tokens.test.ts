// The token check over the wire: what a client sees of it, and what the operator sees.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { Http2Client } from '../support/http2-client.ts';
import { createSigningKey, signToken } from '../support/token-issuer.ts';
import { PATHS, SERVICES, type PlatformClient } from '../support/platform-client.ts';
import { dataSource, RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { event } from '../support/wire-audio.ts';

const FOREIGN_ORGANIZATION = '99999999-9999-4999-8999-999999999999';
/** What every refused client sees, whatever the reason. */
const REFUSED = { code: status.UNAUTHENTICATED, details: 'token refused' };

let server: RunningServer;
let clock: FakeClock;
beforeAll(async () => {
  clock = new FakeClock();
  server = await RunningServer.start({ clock, flags: [...WITH_TEST_BOTS, '--grpc.reflection=true'] });
});
afterAll(() => server.close());

/** A token whose signature is by a key that the issuer does not publish, with the id of one that it does. */
async function forged(): Promise<string> {
  const [headerPart = '', claimsPart = ''] = (await server.issuer.issueToken()).split('.');
  const part = (text: string): Record<string, unknown> => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
  return signToken(createSigningKey('forger'), part(claimsPart), part(headerPart));
}

const REFUSALS: readonly (readonly [string, string, () => Promise<string | undefined> | string | undefined])[] = [
  ['no token', 'token_missing', () => undefined],
  ['an empty token', 'token_missing', () => ''],
  ['the word Bearer alone', 'token_missing', () => 'Bearer '],
  ['another scheme', 'scheme_refused', () => 'Basic dXNlcjpwYXNz'],
  ['two parts (G-03)', 'token_malformed', () => 'a.b'],
  ['four parts (G-03)', 'token_malformed', async () => `${await server.issuer.issueToken()}.x`],
  ['noise', 'token_malformed', () => 'Bearer ~~~~.####.!!!!'],
  ['a token of 10,000 characters', 'token_too_large', () => 'a'.repeat(10_000)],
  ['a forged signature', 'signature_invalid', forged],
  ['another data source', 'url_mismatch', () => server.issuer.issueToken({ url: 'https://elsewhere.example' })],
  ['another organization', 'org_mismatch', () => server.issuer.issueToken({ organizationId: FOREIGN_ORGANIZATION })],
  ['an old nonce', 'nonce_mismatch', () => server.issuer.issueToken({ nonce: 'the-one-before' })],
  [
    'a token that expired',
    'expired',
    async () => {
      const token = await server.issuer.issueToken({ lifetimeMinutes: 1 });
      clock.advance(120_000);
      return token;
    },
  ],
];

describe('a refused token', () => {
  it.each(REFUSALS)(
    'G-02 %s is UNAUTHENTICATED in the same words and without a response; the reason is for operators',
    async (_name, reason, make) => {
      const authorization = await make();
      const client = await server.client({ authorization });
      const counter = `parley_tokens_refused_total{reason="${reason}"}`;
      const before = (await server.metric(counter)) ?? Number.NaN;
      // A new second: one line per second and reason is written at most.
      clock.advance(1001);
      const lines = server.logged({ reason, level: 'warn' }).length;

      const turn = client.open().send(client.call().message(event('SESSION_START')));
      expect(await turn.ended()).toMatchObject(REFUSED);
      expect(turn.responses).toEqual([]);
      expect(turn.ending?.metadata.getMap()).toEqual(expect.not.objectContaining({ reason: expect.anything() as unknown }));
      await expect(client.list()).rejects.toMatchObject(REFUSED);

      expect(await server.metric(counter)).toBe(before + 2);
      expect(server.logged({ reason, level: 'warn' })).toHaveLength(lines + 1);
      expect(server.app.openSessions()).toBe(0);
      // P-14: nothing of the token is logged.
      if (authorization !== undefined && authorization.length > 20)
        expect(JSON.stringify(server.log)).not.toContain(authorization.slice(-20));
    },
  );

  it.each([PATHS.callerInput, PATHS.list])('G-02 is refused by %s before any message has come', async (path) => {
    const raw = new Http2Client(server.target, { authority: server.certificate.certificatePem, authorization: 'a.b' });
    onTestFinished(() => {
      raw.destroy();
    });
    const stream = raw.open(path);
    expect(await stream.ended()).toEqual(REFUSED);
    expect(stream.receivedBytes).toBe(0);
  });

  it('a flood of them writes one line a second', async () => {
    const client = await server.client({ authorization: 'a.b' });
    clock.advance(1001);
    const before = server.log.filter(({ level }) => level !== 'debug').length;
    await Promise.all(Array.from({ length: 200 }, () => client.list().catch(() => undefined)));
    expect(server.log.filter(({ level }) => level !== 'debug').length - before).toBe(1);
  });
});

describe('a good token', () => {
  it.each(['', 'Bearer ', 'bearer ', 'BEARER '])('G-03 is accepted after "%s"', async (prefix) => {
    const client = await server.client({ authorization: `${prefix}${await server.issuer.issueToken()}` });
    expect((await client.list()).virtual_agents).toEqual([{ virtual_agent_id: 'tester', virtual_agent_name: 'Tester', is_default: true }]);
    const call = client.call();
    expect((await call.turn(event('SESSION_START'))).ending.code).toBe(status.OK);
    await call.turn(event('SESSION_END'));
  });

  it('is checked by signature once and remembered after that', async () => {
    // Within one second the issuer signs the same token again.
    clock.advance(1000);
    const client = await server.client();
    const checked = 'parley_tokens_accepted_total{check="verified"}';
    const remembered = 'parley_tokens_accepted_total{check="remembered"}';
    const before = [(await server.metric(checked)) ?? Number.NaN, (await server.metric(remembered)) ?? Number.NaN] as const;
    for (let round = 0; round < 5; round += 1) await client.list();
    expect([await server.metric(checked), await server.metric(remembered)]).toEqual([before[0] + 1, before[1] + 4]);
  });

  it('J-2A is accepted after the issuer has changed its key, and so is one signed with the old key', async () => {
    const old = await server.issuer.issueToken();
    await server.issuer.rotateKey();
    clock.advance(60_000);
    await (await server.client()).list();
    await (await server.client({ authorization: old })).list();
  });

  it('J-04 admits the turns that it opened beyond its expiry, and no others', async () => {
    const client = await server.client({ authorization: await server.issuer.issueToken({ lifetimeMinutes: 5 }) });
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const open = call.open(event('START_OF_DTMF'));
    await client.list();
    clock.advance(6 * 60_000);
    await expect(client.list()).rejects.toMatchObject(REFUSED);
    open.halfClose();
    expect(await open.ended()).toMatchObject({ code: status.OK });
    await (await server.client()).call(call.ids).turn(event('SESSION_END'));
    await server.quiet();
  });

  it('J-2D with the nonce before the last renewal is accepted for as long as such tokens live', async () => {
    const time = new FakeClock();
    const other = await RunningServer.start({
      clock: time,
      flags: [...WITH_TEST_BOTS],
      dataSources: (issuer) => [{ ...dataSource(issuer), previous_nonce: 'the-one-before' }],
    });
    onTestFinished(() => other.close());
    const before = await other.client({ authorization: await other.issuer.issueToken({ nonce: 'the-one-before', lifetimeMinutes: 1440 }) });
    await before.list();
    await (await other.client()).list();
    time.advance(25 * 3_600_000);
    await expect(before.list()).rejects.toMatchObject(REFUSED);
    await (await other.client()).list();
  });
});

describe('organizations', () => {
  it('G-08 a list request for a foreign organization is PERMISSION_DENIED, one for none is for that of the token', async () => {
    const client = await server.client();
    await expect(client.list({ customer_org_id: FOREIGN_ORGANIZATION })).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
      details: 'the message names an organization that its token does not speak for',
    });
    expect(server.logged({ level: 'warn', code: 'foreign_organization' })).toHaveLength(1);
    expect(await server.metric('parley_organizations_refused_total{transport="grpc"}')).toBe(1);
    expect(await client.list({})).toEqual(await client.list());
  });

  it('two organizations with the same conversation id have two calls', async () => {
    const second = await RunningServer.start({
      flags: WITH_TEST_BOTS,
      dataSources: (issuer) => [
        dataSource(issuer),
        { ...dataSource(issuer), id: 'ds-2', organization_id: FOREIGN_ORGANIZATION, url: 'https://second.example' },
      ],
    });
    onTestFinished(() => second.close());
    const first = await second.client();
    const authorization = await second.issuer.issueToken({ organizationId: FOREIGN_ORGANIZATION, url: 'https://second.example' });
    const other = await second.client({ authorization, organizationId: FOREIGN_ORGANIZATION });
    const ids = { conversationId: 'the-same' };
    await first.call(ids).turn(event('SESSION_START'));
    await other.call(ids).turn(event('SESSION_START'));
    expect(second.app.openSessions()).toBe(2);
    await other.call(ids).turn(event('SESSION_END'));
    await second.quiet(1);
    await first.call(ids).turn(event('SESSION_END'));
    await second.quiet();
  });
});

describe('reflection', () => {
  const REFLECTION = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];
  /** "List services": field 7 with an empty text. */
  const ask = (client: PlatformClient, service: string): ReturnType<PlatformClient['stream']> =>
    client.stream(
      `/${service}/ServerReflectionInfo`,
      () => Buffer.of(58, 0),
      (bytes: Buffer) => bytes.toString('latin1'),
      null,
    );

  it.each(REFLECTION)('G-04 %s answers only clients with a token', async (service) => {
    const refused = ask(await server.client({ authorization: undefined }), service);
    expect(await refused.ended()).toMatchObject(REFUSED);
    expect(refused.responses).toEqual([]);
    const answered = ask(await server.client(), service);
    expect(await answered.ended()).toMatchObject({ code: status.OK });
    expect(String(answered.responses[0])).toContain(SERVICES.media);
  });

  it('can be switched off', async () => {
    const silent = await RunningServer.start({ flags: [...WITH_TEST_BOTS, '--grpc.reflection=false'] });
    onTestFinished(() => silent.close());
    expect(await ask(await silent.client(), REFLECTION[0] ?? '').ended()).toMatchObject({ code: status.UNIMPLEMENTED });
  });
});

describe('a server without the token check', () => {
  it('P-11 takes calls of any organization, on loopback', async () => {
    const open = await RunningServer.start({ flags: [...WITH_TEST_BOTS, '--auth.enabled=false'] });
    onTestFinished(() => open.close());
    expect(open.app.ready.hasTokenCheck).toBe(false);
    const client = await open.client({ authorization: undefined, organizationId: 'anybody' });
    const call = client.call();
    expect((await call.turn(event('SESSION_START'))).ending.code).toBe(status.OK);
    await call.turn(event('SESSION_END'));
  });
});
