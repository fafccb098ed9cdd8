// Everything that can be wrong between an organization and its calls, each thing alone, for `parley doctor` to find.
import { randomUUID } from 'node:crypto';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { CheckId } from '../../src/admin/doctor/check.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { listening, type CertificateOptions, type Speaking } from './certificate-authority.ts';
import type { ExaminedServer } from './examined-server.ts';
import { freePort } from './free-port.ts';
import { RunningServer, WITH_TEST_BOTS } from './running-server.ts';
import { event, keys } from './wire-audio.ts';

const PROFILE = loadProfile('fake');
const MINUTE_MS = 60_000;
const NEVER = new AbortController().signal;

/** What breaks, which organization it breaks for and with which flags, and the one thing that must be found. */
export interface Breakage {
  readonly what: string;
  readonly breaks: () => Promise<{ readonly organization: string; readonly flags?: readonly string[] }>;
  readonly finding: `${CheckId}/${string}`;
  /** Default a fault. */
  readonly isWarning?: true;
}

/**
 * All of them.
 *
 * @param whole - the whole that they break, which is there when they do.
 * @param withoutAgents - an organization that no bot serves.
 */
export function breakagesOf(whole: () => ExaminedServer, withoutAgents: string): readonly Breakage[] {
  /** Breaks something of the record of an organization of its own. */
  function record(change: (organization: string) => Promise<unknown>): Breakage['breaks'] {
    return async () => {
      const organization = await whole().admit();
      await change(organization);
      return { organization };
    };
  }

  /** Breaks something that is everybody's, until the end of the test. */
  function everybody(breakIt: () => unknown, mendIt: () => unknown): Breakage['breaks'] {
    return async () => {
      const organization = await whole().admit();
      await breakIt();
      onTestFinished(async () => {
        await mendIt();
      });
      return { organization };
    };
  }

  /** Registers an organization at another address, with a token for it, as if it had always been configured so. */
  async function registeredAt(url: string): ReturnType<Breakage['breaks']> {
    const organization = await whole().admit();
    const isSocket = url.startsWith('wss:');
    await whole().sign(organization, { url }, isSocket ? 'websocket' : 'grpc');
    return { organization, flags: [`--admin.data_sources.${isSocket ? 'websocket_url' : 'url'}=${url}`] };
  }

  /** Registers an organization at a server that speaks like this, with this certificate. */
  function registeredAtServer(speaking: Speaking, certificate?: CertificateOptions): Breakage['breaks'] {
    return async () => registeredAt(`https://localhost:${String(await listening(speaking, await whole().authority.issue(certificate)))}`);
  }

  /** Registers an organization, for calls over WebSocket, at a server that speaks like this and gives this answer to an upgrade. */
  function registeredAtSocketServer(speaking: Speaking, answer?: number): Breakage['breaks'] {
    return async () => registeredAt(`wss://localhost:${String(await listening(speaking, await whole().authority.issue(), answer))}`);
  }

  /** Registers an organization at a server that is told to stop while it has a caller. */
  async function registeredAtStopping(): ReturnType<Breakage['breaks']> {
    const flags = [...WITH_TEST_BOTS, ...(await whole().tlsFlags()), '--auth.enabled=false', '--shutdown.grace_ms=60000'];
    const server = await RunningServer.start({ dataSources: () => [], flags });
    const call = (await server.client({ authority: whole().authority.pem })).call();
    await call.turn(event('SESSION_START'));
    const speaking = call.open(keys('7')).halfClose();
    await speaking.heard('CHUNK audio');
    void server.app.close();
    onTestFinished(async () => {
      speaking.cancel();
      await call.turn(event('SESSION_END'));
      await server.close();
    });
    return registeredAt(`https://${server.target}`);
  }

  /** Registers an organization at a proxy that has lost its server. */
  async function registeredAtProxy(): ReturnType<Breakage['breaks']> {
    const proxy = createSecureServer({ ...(await whole().authority.issue()), allowHTTP1: true }, (_request, response) => {
      response.writeHead(503).end();
    });
    const port = await new Promise<number>((resolve) => {
      proxy.listen(0, '127.0.0.1', () => {
        resolve((proxy.address() as AddressInfo).port);
      });
    });
    onTestFinished(() => {
      proxy.close();
    });
    return registeredAt(`https://localhost:${String(port)}`);
  }

  /** Lets the webhooks of the app lead to another address, as if it had always been configured so. */
  async function deliverTo(targetUrl: string): Promise<void> {
    const webhooks = whole().access.access.serviceApp?.api;
    for (const { id, name } of (await webhooks?.list(NEVER)) ?? []) {
      if (name !== undefined) await webhooks?.update(id, { name, targetUrl, status: 'active' }, NEVER);
    }
  }

  /** Lets the webhooks lead to a port where nobody listens. */
  async function undelivered(): ReturnType<Breakage['breaks']> {
    const before = api().webhooks()[0]?.targetUrl ?? '';
    const targetUrl = `http://127.0.0.1:${String(await freePort())}/webhooks`;
    const { organization } = await everybody(
      () => deliverTo(targetUrl),
      () => deliverTo(before),
    )();
    return { organization, flags: [`--admin.webhooks.target_url=${targetUrl}`] };
  }

  function api() {
    return whole().surroundings.api;
  }

  /** Has a token signed that lives for an hour, and began so long ago, ms. */
  async function signedAgo(agoMs: number, organization: string): Promise<void> {
    api().switches.skewMs = -agoMs;
    await whole().sign(organization, {});
    api().switches.skewMs = 0;
  }

  function dataSourceOf(organization: string): string {
    return whole().record(organization).id;
  }

  return [
    {
      what: 'the organization has not authorized the app',
      breaks: () => Promise.resolve({ organization: randomUUID() }),
      finding: 'organization_token/token_not_stored',
    },
    {
      what: 'the app lacks the scope to read data sources (5.1)',
      breaks: everybody(
        () => {
          api().faults.add('GET /dataSources', { kind: 'answer', status: 403 });
        },
        () => {
          api().faults.clear();
        },
      ),
      finding: 'platform_access/scope_missing',
    },
    {
      what: 'the data source has been deleted',
      breaks: record((organization) => whole().access.dataSourcesOf(organization).delete(dataSourceOf(organization), NEVER)),
      finding: 'data_source/data_source_missing',
    },
    {
      what: 'the data source has the schema of the other transport (J-2E)',
      // W-03: with the schema of another transport the platform takes only an address of its form.
      breaks: record((organization) => whole().change(organization, { schemaId: PROFILE.schemas.websocket, url: 'wss://localhost:1' })),
      finding: 'schema/schema_of_other_transport',
    },
    {
      what: 'the registered address has a slash more than the configured one (J-19)',
      breaks: record((organization) => whole().change(organization, { url: `${whole().url}/` })),
      finding: 'url/url_spelling',
    },
    {
      what: 'the registered address leads elsewhere',
      breaks: record((organization) => whole().change(organization, { url: 'https://localhost/elsewhere' })),
      finding: 'url/url_wrong',
    },
    {
      what: 'the platform has disabled the data source (R-03)',
      breaks: record((organization) => Promise.resolve(api().disableDataSource(dataSourceOf(organization), 'too many failures'))),
      finding: 'status/not_active',
    },
    {
      what: 'the token has ended (J-03)',
      breaks: record((organization) => signedAgo(61 * MINUTE_MS, organization)),
      finding: 'token_expiry/token_over',
    },
    {
      what: 'the token ends soon and was not renewed (L-07)',
      breaks: record((organization) => signedAgo(55 * MINUTE_MS, organization)),
      finding: 'token_expiry/token_near_end',
      isWarning: true,
    },
    {
      what: 'somebody else has changed the nonce (J-18)',
      breaks: record((organization) => whole().change(organization, { nonce: randomUUID() })),
      finding: 'nonce/nonce_unknown',
    },
    {
      what: 'the issuer of the token is not in the list (J-12)',
      breaks: async () => ({ organization: await whole().admit(), flags: ['--platform.extra_issuers=[]'] }),
      finding: 'issuer/issuer_unknown',
    },
    {
      what: 'the audience in the token is not the registered one (J-17)',
      breaks: async () => {
        const organization = await whole().admit();
        await whole().sign(organization, { audience: 'another' });
        return { organization };
      },
      finding: 'test_token/token_refused',
    },
    {
      what: 'the clocks do not agree',
      breaks: everybody(
        () => (api().switches.skewMs = 5 * MINUTE_MS),
        () => (api().switches.skewMs = 0),
      ),
      finding: 'clock/clock_skew',
    },
    {
      what: 'nobody listens at the registered address',
      breaks: async () => registeredAt(`https://localhost:${String(await freePort())}`),
      finding: 'listens/not_listening',
    },
    { what: 'what listens there speaks no TLS', breaks: registeredAtServer('plain'), finding: 'tls_handshake/tls_failed' },
    {
      what: 'the certificate has ended (P-12)',
      breaks: registeredAtServer('h2', { fromDays: -30, toDays: -1 }),
      finding: 'certificate/certificate_over',
    },
    {
      what: 'the certificate is for another name',
      breaks: registeredAtServer('h2', { name: 'other.example.test' }),
      finding: 'certificate/certificate_name',
    },
    {
      what: 'the certificate is signed by itself (O-13)',
      breaks: registeredAtServer('h2', { isSelfSigned: true }),
      finding: 'certificate/certificate_untrusted',
    },
    { what: 'HTTP/2 is not offered (1.9)', breaks: registeredAtServer('http/1.1'), finding: 'alpn/alpn_missing' },
    { what: 'HTTP/1.1 is not offered to WebSocket (W-01)', breaks: registeredAtSocketServer('h2'), finding: 'alpn/http1_missing' },
    {
      what: 'a proxy does not pass the path of the calls over WebSocket on (W-07)',
      breaks: registeredAtSocketServer('http/1.1', 404),
      finding: 'upgrade/upgrade_failed',
    },
    {
      what: 'the token of the data source for WebSocket is not the registered one (J-17)',
      breaks: async () => {
        const organization = await whole().admit();
        await whole().sign(organization, { audience: 'another' }, 'websocket');
        return { organization };
      },
      finding: 'test_token/token_refused',
    },
    {
      what: 'another server, which knows no token, answers for WebSocket (W-06)',
      breaks: registeredAtSocketServer('http/1.1'),
      finding: 'agents/agents_not_listed',
    },
    { what: 'the server is stopping (1.8)', breaks: registeredAtStopping, finding: 'health/health_bad' },
    { what: 'a proxy has lost the server behind it', breaks: registeredAtProxy, finding: 'health/health_unanswered' },
    { what: 'nobody takes deliveries', breaks: undelivered, finding: 'webhooks/webhook_unanswered', isWarning: true },
    {
      what: 'a webhook was switched off (H-24)',
      breaks: everybody(
        () => api().deactivateWebhook(api().webhooks()[0]?.id ?? ''),
        async () => {
          const webhooks = whole().access.access.serviceApp?.api;
          const [first] = (await webhooks?.list(NEVER)) ?? [];
          if (first?.name === undefined || first.targetUrl === undefined) throw new Error('there is no webhook to mend');
          await webhooks?.update(first.id, { name: first.name, targetUrl: first.targetUrl, status: 'active' }, NEVER);
        },
      ),
      finding: 'webhooks/webhook_inactive',
      isWarning: true,
    },
    {
      what: 'the server offers the organization no agent (G-05)',
      breaks: async () => ({ organization: await whole().admit(withoutAgents) }),
      finding: 'agents/no_agents',
    },
  ];
}
