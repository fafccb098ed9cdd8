import { describe, expect, it } from 'vitest';
import { DOCTOR_CHECKS } from '../../../../src/admin/doctor/checks.ts';
import { CHECK_IDS } from '../../../../src/admin/doctor/check.ts';
import type { CheckResult } from '../../../../src/admin/doctor/run-doctor.ts';
import { OrgNotRegisteredError } from '../../../../src/admin/organizations.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { createSigningKey } from '../../../support/token-issuer.ts';
import { foundIn, ORG, patients, PROFILE, refused, saidIn, skippedIn, webhook, type Patient } from '../../../unit/admin/doctor/patient.ts';

const { admit, issuer } = patients();
const MINUTE_MS = 60_000;

/** What breaks, the one finding that it must lead to, and what is in its sentence. */
type Breakage = readonly [what: string, breakIt: (patient: Patient) => void, finding: string, said: RegExp];

function record(patient: Patient, changes: Readonly<Record<string, unknown>>): void {
  Object.assign(patient.records[0] ?? {}, changes);
}

const BREAKAGES: readonly Breakage[] = [
  ['no token is kept', (it) => (it.isStored = false), 'organization_token/token_not_stored', /authorize the app/u],
  [
    'the token of the organization cannot be renewed (R-10)',
    (it) => (it.current = () => Promise.reject(new AppError('authorization_needed', 'the refresh token is dead'))),
    'organization_token/check_failed',
    /refresh token is dead; Log in again/u,
  ],
  [
    'the organization has taken its authorization back (6.5)',
    (it) => (it.list = () => Promise.reject(new OrgNotRegisteredError(ORG, 'the platform refused it', { status: 403 }))),
    'platform_access/not_authorized',
    /the platform refused it; Let the administrator of the organization authorize the app/u,
  ],
  [
    'the app may not read data sources (5.4)',
    (it) => (it.list = () => Promise.reject(refused(403))),
    'platform_access/scope_missing',
    /give the app the scopes \S+ \S+, then/u,
  ],
  [
    'the platform fails',
    (it) => (it.list = () => Promise.reject(new AppError('platform_unavailable', 'status 503'))),
    'platform_access/check_failed',
    /status 503; Check outbound HTTPS/u,
  ],
  [
    'the data source is of another app (L-11)',
    (it) => {
      record(it, { applicationId: 'Cfedcba9876543210' });
    },
    'data_source/data_source_missing',
    /has 2 data sources, none of which fits/u,
  ],
  ['a data source is not registered (L-04)', (it) => it.records.shift(), 'data_source/data_source_missing', /not registered/u],
  [
    'two data sources fit equally well (L-03)',
    (it) => it.records.push({ ...it.records[0], id: 'source-twin' }),
    'data_source/data_source_ambiguous',
    /source-grpc, source-twin/u,
  ],
  [
    'the pinned data source is not there (L-02)',
    (it) => (it.wanted = it.wanted.map((each, index) => (index === 0 ? { ...each, pinnedId: 'source-gone' } : each))),
    'data_source/data_source_missing',
    /pinned data source source-gone is not there/u,
  ],
  [
    'the pinned data source is of another app (L-02, L-11)',
    (it) => {
      it.wanted = it.wanted.map((each, index) => (index === 0 ? { ...each, pinnedId: 'source-grpc' } : each));
      record(it, { applicationId: 'C-other' });
    },
    'data_source/data_source_missing',
    /pinned data source source-grpc belongs to another app/u,
  ],
  [
    'the schema is another one (J-1A)',
    (it) => {
      record(it, { schemaId: 'schema-x' });
    },
    'schema/schema_wrong',
    /schema-x/u,
  ],
  [
    'the schema of the other transport is registered (J-2E)',
    (it) => {
      it.wanted.pop();
      it.records.pop();
      record(it, { schemaId: PROFILE.schemas.websocket });
    },
    'schema/schema_of_other_transport',
    /schema of websocket/u,
  ],
  [
    'the address is registered in upper case (J-19)',
    (it) => {
      record(it, { url: it.wanted[0]?.url.replace('localhost', 'LocalHost') });
    },
    'url/url_spelling',
    /spelt differently: upper case \(registered https:\/\/LocalHost:/u,
  ],
  [
    'the address is registered with a slash at its end (J-29)',
    (it) => {
      record(it, { url: `${it.wanted[0]?.url ?? ''}/` });
    },
    'url/url_spelling',
    /a slash at the end/u,
  ],
  [
    'the pinned data source leads elsewhere (J-19)',
    (it) => {
      it.wanted = it.wanted.map((each, index) => (index === 0 ? { ...each, pinnedId: 'source-grpc' } : each));
      record(it, { url: 'https://elsewhere.example.test/line' });
    },
    'url/url_wrong',
    /registered https:\/\/elsewhere\.example\.test/u,
  ],
  [
    'a pinned data source of WebSocket is registered with a path (W-03)',
    (it) => {
      it.wanted = it.wanted.map((each, index) => (index === 1 ? { ...each, pinnedId: 'source-websocket' } : each));
      Object.assign(it.records[1] ?? {}, { url: `${it.wanted[1]?.url ?? ''}/v1/va` });
    },
    'url/url_form',
    /has neither path nor other scheme than wss \(registered wss:\/\/localhost:\d+\/v1\/va, configured wss:\/\/localhost:\d+\); register/u,
  ],
  [
    'a data source of WebSocket is pinned that is registered for gRPC (J-2E)',
    (it) => {
      it.wanted = it.wanted.filter(({ transport }) => transport === 'websocket').map((each) => ({ ...each, pinnedId: 'source-grpc' }));
    },
    'schema/schema_of_other_transport',
    /it has the schema of grpc, so that the platform calls by grpc/u,
  ],
  [
    'the data source is disabled (R-03)',
    (it) => {
      record(it, { status: 'DISABLED', errorMessage: 'down for\nmaintenance CANARY-nonce-grpc' });
    },
    'status/not_active',
    /is disabled, with the message "down for maintenance \[hidden\]"/u,
  ],
  [
    'the token has ended (J-03)',
    (it) => {
      record(it, { tokenExpiryTime: new Date(it.clock.nowMs() - 1).toISOString() });
    },
    'token_expiry/token_over',
    /makes no calls with it/u,
  ],
  [
    'the token should have been renewed (L-07)',
    (it) => {
      record(it, { tokenExpiryTime: new Date(it.clock.nowMs() + 9.5 * MINUTE_MS).toISOString() });
    },
    'token_expiry/token_near_end',
    /in 9 minutes/u,
  ],
  [
    'the nonce is not known here (J-18)',
    (it) => {
      it.nonces.rotate('source-grpc', 'another');
    },
    'nonce/nonce_unknown',
    /none that the token check takes/u,
  ],
  [
    'the issuer is not in the list (J-12)',
    (it) => {
      record(it, { jwsToken: it.token('grpc', { iss: 'https://elsewhere.example.test' }) });
    },
    'issuer/issuer_unknown',
    /elsewhere\.example\.test; .*platform\.extra_issuers/u,
  ],
  [
    'the key is not published (J-14)',
    (it) => {
      record(it, { jwsToken: it.token('grpc', {}, { kid: 'key-x' }) });
    },
    'key_set/key_missing',
    /not among the keys of http/u,
  ],
  [
    'the token is signed by somebody else (J-26)',
    (it) => {
      record(it, { jwsToken: it.token('grpc').replace(/[^.]+$/u, Buffer.alloc(256, 7).toString('base64url')) });
    },
    'test_token/token_refused',
    /\(signature_invalid\)/u,
  ],
  [
    'the audience in the token is another one (J-17)',
    (it) => {
      record(it, { jwsToken: it.token('grpc', { aud: 'other' }) });
    },
    'test_token/token_refused',
    /\(audience_mismatch\); The audience differs from the registered one; copy it from the data source\.$/u,
  ],
  [
    'this machine is late',
    (it) => (it.date = new Date(it.clock.nowMs() + 33_000).toUTCString()),
    'clock/clock_skew',
    /is 3[23] s behind the platform/u,
  ],
  [
    'this machine is ahead',
    (it) => (it.date = new Date(it.clock.nowMs() - 33_000).toUTCString()),
    'clock/clock_skew',
    /is 3[23] s ahead of the platform/u,
  ],
  ['a webhook is missing (R-23)', (it) => it.webhooks.pop(), 'webhooks/webhook_missing', /event deauthorized: there is none/u],
  [
    'a webhook is of another app (R-23)',
    (it) => (it.webhooks[0] = webhook('authorized', { filter: 'id=Cffffffffffffffff' })),
    'webhooks/webhook_missing',
    /event authorized: there is none/u,
  ],
  [
    'a webhook was switched off (H-24)',
    (it) => (it.webhooks[0] = webhook('authorized', { status: 'inactive' })),
    'webhooks/webhook_inactive',
    /switched it off/u,
  ],
  [
    'a webhook leads elsewhere',
    (it) => (it.webhooks[1] = webhook('deauthorized', { targetUrl: 'https://old.example.test/hooks' })),
    'webhooks/webhook_target',
    /leads to https:\/\/old\.example\.test\/hooks and not to/u,
  ],
  [
    'the integration may not read webhooks (5.1)',
    (it) => (it.webhookList = () => Promise.reject(refused(403))),
    'webhooks/scope_missing',
    /grant the scopes/u,
  ],
  [
    'the server offers no agents (G-05)',
    (it) => (it.listed.grpc = { kind: 'listed', count: 0 }),
    'agents/no_agents',
    /^the grpc data source of .*list of agents at localhost:\d+: there is no agent to choose/u,
  ],
  [
    'the server offers no agents over WebSocket, the only transport of the organization (W-50)',
    (it) => {
      it.wanted.shift();
      it.listed.websocket = { kind: 'listed', count: 0 };
    },
    'agents/no_agents',
    /^the websocket data source of .*list of agents at localhost:\d+: there is no agent to choose/u,
  ],
  [
    'the server refuses what the token check takes',
    (it) => (it.listed.grpc = { kind: 'refused', why: 'it refused the token\nCANARY-nonce-grpc' }),
    'agents/agents_not_listed',
    /does not list its agents \(it refused the token \[hidden\]\); look at its log/u,
  ],
  [
    'the list channel refuses what the token check takes (W-53)',
    (it) => (it.listed.websocket = { kind: 'refused', why: 'status 401' }),
    'agents/agents_not_listed',
    /^the websocket data source of .* does not list its agents \(status 401\); look at its log/u,
  ],
  ['the health service says no (1.8)', (it) => (it.health = 'not_serving'), 'health/health_bad', /takes no calls/u],
];

describe('the checks of the doctor', () => {
  it('find nothing where everything is right, and leave nothing out', async () => {
    const patient = await admit();
    patient.changes = { scopes: [{ organizationId: ORG, needed: ['a'], granted: ['a'] }] };
    const results = await patient.examine();
    expect(results.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect([...new Set(results.map(({ id }) => id))]).toEqual(CHECK_IDS);
    expect(patient.clock.pendingTimers).toBe(0);
  });

  it.each(BREAKAGES)('find, when %s, exactly that', async (_what, breakIt, finding, said) => {
    const patient = await admit();
    breakIt(patient);
    const results = await patient.examine();
    expect(foundIn(results)).toEqual([finding]);
    expect(saidIn(results)).toEqual([expect.stringMatching(said)]);
    expectSilent(results, patient);
  });

  it('say that a key set cannot be had, and nothing of the data sources that are right but for it', async () => {
    const patient = await admit();
    issuer.server.respond = (_request, response) => {
      response.writeHead(503).end();
    };
    const results = await patient.examine();
    expect(new Set(foundIn(results))).toEqual(new Set(['key_set/key_set_unreachable']));
    expect(skippedIn(results)).toEqual(['test_token', 'agents']);
  });

  it('leave out what the findings before make senseless, and say why', async () => {
    const patient = await admit();
    patient.records.shift();
    const results = await patient.examine();
    const ofGrpc = results.filter(({ subject, state }) => subject.includes('the grpc data source') && state === 'skipped');
    const needing = ['schema', 'url', 'status', 'token_expiry', 'nonce', 'issuer', 'key_set', 'test_token', 'agents'];
    expect(ofGrpc.map(({ id }) => id)).toEqual(needing);
    expect(ofGrpc[0]?.reason).toBe('it needs "it is registered" (data_source), which is not so or not known');
    // The other data source is looked at all the same.
    expect(skippedIn(results.filter(({ subject }) => subject.includes('websocket')))).toEqual([]);
  });

  it('go on after a warning: what it warns of has not happened', async () => {
    const patient = await admit();
    record(patient, { tokenExpiryTime: new Date(patient.clock.nowMs() + MINUTE_MS).toISOString() });
    const results = await patient.examine();
    expect(results.find(({ id }) => id === 'test_token')?.state).toBe('ok');
  });

  it('look at nothing of the platform where nothing is managed, and at everything else', async () => {
    const patient = await admit();
    patient.changes = { organizations: undefined, platformDate: undefined, webhooks: undefined, health: undefined, store: undefined };
    const results = await patient.examine();
    expect(foundIn(results)).toEqual([]);
    expect(skippedIn(results)).toEqual(CHECK_IDS.filter((id) => id !== 'store' && !OUTSIDE.has(id) && !ORGANIZATION.has(id)));
  });

  it('let pass what the records do not say: it cannot be wrong', async () => {
    const patient = await admit();
    patient.wanted = patient.wanted.map((each) => ({ ...each, pinnedId: `source-${each.transport}` }));
    for (const each of patient.records) {
      for (const name of Object.keys(each)) if (name !== 'id') Reflect.deleteProperty(each, name);
    }
    const results = await patient.examine();
    expect(foundIn(results)).toEqual([]);
    expect(skippedIn(results)).toEqual(['schema', 'url', 'status', 'token_expiry', 'nonce', 'issuer', 'key_set', 'test_token']);
  });

  it('take a right webhook beside wrong ones: others may have theirs', async () => {
    const patient = await admit();
    patient.webhooks.push(webhook('authorized', { targetUrl: 'https://other.example.test' }));
    patient.webhooks.unshift(webhook('deauthorized', { status: 'inactive' }));
    expect(foundIn(await patient.examine())).toEqual([]);
  });

  it('let 30 s between the clocks pass (J-16)', async () => {
    const patient = await admit();
    patient.date = new Date(patient.clock.nowMs() - 30_000).toUTCString();
    expect(foundIn(await patient.examine())).toEqual([]);
    patient.date = 'some day';
    expect(skippedIn(await patient.examine())).toEqual(['clock']);
  });

  it('find that nobody has authorized the app, and look at the address all the same (R-23)', async () => {
    const patient = await admit();
    const addresses = patient.wanted;
    patient.wanted = [];
    patient.changes = { organizations: [], addresses };
    const results = await patient.examine();
    expect(foundIn(results)).toEqual(['organization_token/no_organization']);
    expect(results.find(({ id }) => id === 'certificate')?.state).toBe('ok');
  });

  it('look for agents in the configuration where there is no token to ask the server with (G-05)', async () => {
    const patient = await admit();
    patient.listed.grpc = { kind: 'refused', why: 'nobody asked' };
    Reflect.deleteProperty(patient.records[0] ?? {}, 'jwsToken');
    expect(foundIn(await patient.examine())).toEqual([]);
    patient.agents = 0;
    expect(foundIn(await patient.examine())).toEqual(['agents/no_agents']);
  });

  it('take the known record although its address is another one, and find another when it is gone (L-02, L-03)', async () => {
    const patient = await admit();
    patient.wanted = patient.wanted.map((each) => ({ ...each, knownId: `source-${each.transport}` }));
    record(patient, { url: 'https://elsewhere.example.test/line' });
    expect(foundIn(await patient.examine())).toEqual(['url/url_wrong']);
    patient.wanted = patient.wanted.map((each) => ({ ...each, knownId: 'source-gone' }));
    expect(foundIn(await patient.examine())).toEqual(['data_source/data_source_missing']);
  });

  it('stand in the order of their ids, each after what it needs', () => {
    expect(DOCTOR_CHECKS.map(({ id }) => id)).toEqual(CHECK_IDS);
  });

  it('keep apart what a key is that nobody knows and one that cannot be fetched (J-14)', async () => {
    const patient = await admit();
    issuer.server.publish([createSigningKey('key-2').published]);
    expect(new Set(foundIn(await patient.examine()))).toEqual(new Set(['key_set/key_missing']));
  });
});

const OUTSIDE = new Set(['listens', 'tls_handshake', 'certificate', 'alpn', 'upgrade', 'agents']);
const ORGANIZATION = new Set(['organization_token', 'platform_access', 'scopes']);

/** No nonce, token or secret is in what is told (P-14, R-13). */
function expectSilent(results: readonly CheckResult[], patient: Patient): void {
  const told = JSON.stringify(results);
  expect(told).toContain(ORG);
  expect(told).not.toContain('CANARY');
  for (const { jwsToken } of patient.records) {
    expect(typeof jwsToken).toBe('string');
    for (const part of String(jwsToken).split('.')) expect(told).not.toContain(part);
  }
}
