// No secret in anything that can be read: each kind of request, against a platform that quotes everything it was sent and
// answers with secrets of its own, in every way that fails. What is thrown is taken apart to the last property, and every
// line of the log is read (R-13).
import { validateAuthResponse } from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { IntegrationTokens } from '../../../src/admin/oauth/integration-tokens.ts';
import { TokenRequests } from '../../../src/admin/oauth/token-request.ts';
import { Organizations } from '../../../src/admin/organizations.ts';
import { ApplicationTokens } from '../../../src/admin/rest/application-token.ts';
import { DataSources } from '../../../src/admin/rest/data-sources.ts';
import { REST_LIMITS, RestClient } from '../../../src/admin/rest/rest-client.ts';
import { Webhooks } from '../../../src/admin/rest/webhooks.ts';
import { AppError } from '../../../src/base/errors.ts';
import { errorFields } from '../../../src/base/error-fields.ts';
import { adminServer, countedTokens, cut, expectNoCanary, keptLog, MemorySecrets, type AdminServer } from '../../support/admin-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import type { Answering, Received } from '../../support/speech-service.ts';
import { never } from '../../support/voice.ts';

const SCHEME = 'example://';
const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const CREATE = {
  ...{
    audience: 'a',
    subject: 's',
    nonce: 'CANARY-nonce',
    schemaId: '5397013b-7920-4ffc-807c-e8a3e0a18f43',
    url: 'https://bot.example',
    tokenLifetimeMinutes: 60,
  },
};
const HOOK = { name: 'n', targetUrl: 'https://a.example/h', resource: 'r', event: 'e', secret: 'CANARY-hook' };
const OLD = { accessToken: 'CANARY-old', expiresAtMs: 0, refreshToken: 'CANARY-refresh' };
// Header and claims hold the word too, decoded and encoded.
const JWS = ['{"alg":"RS256"}', '{"jti":"CANARY-jti"}', 'CANARY'].map((part) => Buffer.from(part).toString('base64url')).join('.');

/** Everything that came, in the words of the platform: as it came, decoded, and in the spelling of JSON. */
function quoted({ headers, body, path }: Received): string {
  const form = [...new URLSearchParams(body.toString()).values()].join(' ');
  return ['you sent', headers.authorization, body.toString(), JSON.stringify(body.toString()), decodeURIComponent(path), form, JWS].join(
    ' ',
  );
}

/** One of the secrets that came, as an id that might be quoted. */
function sentSecret({ headers, body }: Received): string {
  const form = new URLSearchParams(body.toString());
  return headers.authorization?.slice('Bearer '.length) ?? form.get('refresh_token') ?? form.get('code') ?? 'none';
}

function refuse(status: number, make: (received: Received) => unknown): Answering {
  return (response, received) => {
    const text = JSON.stringify(make(received));
    response.writeHead(status, { 'content-type': 'application/json', trackingid: sentSecret(received) }).end(text);
  };
}

function trackedBy(trackingId: (received: Received) => string): Answering {
  return (response, received) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: 'no', trackingId: trackingId(received) }));
  };
}

const SECRETS = {
  id: '',
  jwsToken: JWS,
  nonce: 'CANARY-theirs',
  access_token: 'CANARY-theirs',
  refresh_token: 'CANARY-theirs',
  expires_in: '?',
};

const WAYS: readonly (readonly [string, Answering])[] = [
  ...[400, 401, 403, 404, 409, 429, 500, 503].map(
    (status) => [`quotes all of it with ${String(status)}`, refuse(status, (received) => ({ message: quoted(received) }))] as const,
  ),
  ['quotes it in its descriptions', refuse(400, (received) => ({ message: 'no', errors: [{ description: quoted(received) }] }))],
  ['quotes it as OAuth does', refuse(400, (received) => ({ error: 'invalid_grant', error_description: quoted(received) }))],
  ['puts it into the tracking id', trackedBy(sentSecret)],
  ['answers well with secrets that have no use', refuse(200, () => SECRETS)],
  ['answers with a list of them', refuse(200, () => [SECRETS])],
  ['answers with what is no JSON', (response) => void response.end(`CANARY ${JWS}`)],
  ['breaks off', cut(Buffer.from('{"nonce":"CANARY'), 'application/json')],
];

interface Parts {
  readonly rest: RestClient;
  readonly requests: TokenRequests;
  readonly clock: FakeClock;
  readonly log: ReturnType<typeof keptLog>['log'];
}

const DOINGS: Readonly<Record<string, (parts: Parts) => Promise<unknown>>> = {
  'registering a data source': ({ rest }) => sources(rest).create(CREATE, never()),
  'listing data sources': ({ rest }) => sources(rest).list(never()),
  'reading a data source': ({ rest }) => sources(rest).get('ds', never()),
  'changing a data source': ({ rest }) => sources(rest).update('ds', { nonce: 'CANARY-nonce' }, never()),
  'creating a webhook': ({ rest }) => new Webhooks(rest).create(HOOK, never()),
  'changing a webhook': ({ rest }) =>
    new Webhooks(rest).update('w', { name: 'n', targetUrl: HOOK.targetUrl, secret: HOOK.secret }, never()),
  'asking for the token of an app': ({ rest, clock }) => apps(rest, clock).obtain(ORG, never()),
  'asking for it by organization': ({ rest, requests, clock, log }) =>
    new Organizations({
      bufferSeconds: 60,
      store: new MemorySecrets(),
      applications: apps(rest, clock),
      requests,
      idScheme: SCHEME,
      clock,
      log,
    })
      .tokensOf(ORG)
      .current(never()),
  'exchanging a code': ({ requests }) => {
    const parameters = new URLSearchParams({ code: 'CANARY-code', state: 'CANARY-state' });
    const callback = validateAuthResponse(requests.server, requests.client, parameters, 'CANARY-state');
    return requests.exchange({ callback, redirectUri: 'http://127.0.0.1:1/c', codeVerifier: 'CANARY-verifier' }, never());
  },
  'refreshing the integration': async ({ requests, clock, log }) => {
    const integration = new IntegrationTokens({ bufferSeconds: 60, store: new MemorySecrets(), requests, clock, log });
    await integration.save(OLD);
    return integration.current(never());
  },
};

function sources(rest: RestClient): DataSources {
  return new DataSources(rest, { url: 'x.url', schema: 'x.schema', org: 'x.org' });
}

function apps(rest: RestClient, clock: FakeClock): ApplicationTokens {
  return new ApplicationTokens({
    rest,
    app: { clientId: 'C0a1b2c3d4e5f', clientSecret: 'CANARY "secret" & more' },
    idScheme: SCHEME,
    clock,
  });
}

async function failing(server: AdminServer, doing: (parts: Parts) => Promise<unknown>): Promise<{ thrown: unknown; lines: string[] }> {
  const clock = new FakeClock();
  const { log, lines } = keptLog();
  // No second tries: what fails, fails in this way. The first answer is the last.
  const limits = { ...REST_LIMITS, retry: { ...REST_LIMITS.retry, maxTries: 1 } };
  const options = { address: server.address, clock, log, limits };
  const rest = new RestClient({ ...options, tokens: countedTokens() });
  const requests = new TokenRequests({ ...options, credentials: { clientId: 'c', clientSecret: 'CANARY "secret" & more' } });
  const thrown: unknown = await doing({ rest, requests, clock, log }).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  log.error({ err: thrown }, 'as a caller would log it');
  return { thrown, lines };
}

describe.each(Object.entries(DOINGS))('%s with a platform that', (name, doing) => {
  it.each(WAYS)('%s says no secret', async (way, answering) => {
    const server = await adminServer(answering);
    const { thrown, lines } = await failing(server, doing);
    expect(thrown, `${name}: ${way}`).toBeInstanceOf(AppError);
    expect(server.received.length).toBeGreaterThan(0);
    expectNoCanary(thrown);
    const logged = lines.join('') + JSON.stringify(errorFields(thrown));
    for (const secret of ['CANARY', JWS, Buffer.from('CANARY').toString('base64url')]) expect(logged).not.toContain(secret);
  });
});
