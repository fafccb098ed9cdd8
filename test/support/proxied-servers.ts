// Two real servers behind a proxy of deploy/, and callers that reach them through it as the platform would: over TLS, with tokens.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/base/clock.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import type { CallResult } from '../../src/fake-platform/caller/caller.ts';
import type { Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { certificateAuthority, type Authority } from './certificate-authority.ts';
import { freePort } from './free-port.ts';
import { patientCall } from './patient-call.ts';
import { PlatformClient } from './platform-client.ts';
import { dataSource, RunningServer } from './running-server.ts';
import { ShippedProxy, type ProxiedPorts, type ProxyKind } from './shipped-proxy.ts';
import { socketDataSource, socketToken, WITH_SOCKETS } from './socket-peer.ts';

const BOTS = `${packageRoot()}/test/fixtures/proxy-bots`;

/** What is started. */
export interface ProxiedOptions {
  readonly kind: ProxyKind;
  /** Flags of both servers. */
  readonly flags?: readonly string[];
  /** Changes the file of the proxy. Default: nothing. */
  readonly changed?: (text: string) => string;
}

/** The servers, the proxy, and what callers need. Whoever starts it closes it. */
export class ProxiedServers {
  readonly servers: readonly [RunningServer, RunningServer];
  readonly proxy: ShippedProxy;
  readonly port: number;
  readonly authority: Authority;
  /** Paths of requests that came to where webhooks are delivered. */
  readonly webhooks: readonly string[];
  readonly #endpoint: Server;
  readonly #clients: PlatformClient[] = [];

  private constructor(
    servers: readonly [RunningServer, RunningServer],
    proxy: ShippedProxy,
    port: number,
    authority: Authority,
    webhooks: readonly string[],
    endpoint: Server,
  ) {
    this.servers = servers;
    this.proxy = proxy;
    this.port = port;
    this.authority = authority;
    this.webhooks = webhooks;
    this.#endpoint = endpoint;
  }

  /** Starts them. */
  static async start({ kind, flags = [], changed }: ProxiedOptions): Promise<ProxiedServers> {
    const webhooks: string[] = [];
    const common = [...WITH_SOCKETS, `--bots.folder=${BOTS}`, '--bots.default_bot=brief', '--turns.deadline_ms=600000', ...flags];
    const first = await RunningServer.start({ hasTls: false, flags: common, dataSources });
    // Its tokens are good at the other one.
    const trusting = [...common, `--platform.extra_issuers=${JSON.stringify([first.issuer.issuer])}`];
    const second = await RunningServer.start({ hasTls: false, flags: trusting, dataSources: () => dataSources(first.issuer) });
    const endpoint = createServer((request, response) => {
      webhooks.push(request.url ?? '');
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
    const webhookPort = (endpoint.address() as AddressInfo).port;
    try {
      const authority = await certificateAuthority(systemClock.nowMs());
      const port = await freePort();
      const proxy = await ShippedProxy.start({
        kind,
        port,
        behind: [portsOf(first, webhookPort), portsOf(second, webhookPort)],
        certificate: await authority.issue(),
        ...(changed !== undefined && { changed }),
      });
      return new ProxiedServers([first, second], proxy, port, authority, webhooks, endpoint);
    } catch (error) {
      endpoint.close();
      await second.close();
      await first.close();
      throw error;
    }
  }

  get issuer(): Issuer {
    return this.servers[0].issuer;
  }

  /** A client with a connection of its own and a good token, unless told otherwise. */
  async client(authorization?: string): Promise<PlatformClient> {
    const client = new PlatformClient({
      target: `localhost:${String(this.port)}`,
      authority: this.authority.pem,
      authorization: authorization ?? (await this.issuer.issueToken()),
      organizationId: this.issuer.claims.organizationId,
    });
    this.#clients.push(client);
    return client;
  }

  /** A whole call of the platform on a connection of its own, to an agent; default: the one whose calls are one turn. */
  async grpcCall(agentId = 'brief'): Promise<CallResult> {
    return patientCall(`grpcs://localhost:${String(this.port)}`, {
      certificateAuthority: Buffer.from(this.authority.pem),
      token: await this.issuer.issueToken(),
      organizationId: this.issuer.claims.organizationId,
      agentId,
    });
  }

  /** The same over WebSocket, where several turns come to the same server. */
  async socketCall(): Promise<CallResult> {
    return patientCall(`wss://localhost:${String(this.port)}`, {
      certificateAuthority: Buffer.from(this.authority.pem),
      token: await socketToken(this.issuer),
      organizationId: this.issuer.claims.organizationId,
      agentId: 'keypad',
      script: [
        { kind: 'press', keys: ['1'] },
        { kind: 'press', keys: ['9'] },
      ],
    });
  }

  /** How many calls have begun at each of the servers. */
  async begun(): Promise<readonly [number, number]> {
    const bots = ['brief', 'keypad', 'muser', 'talker'];
    const sum = async (server: RunningServer): Promise<number> => {
      const counts = await Promise.all(bots.map((bot) => server.metric(`parley_sessions_started_total{bot="${bot}"}`)));
      return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
    };
    return [await sum(this.servers[0]), await sum(this.servers[1])];
  }

  /** Closes everything, and demands of the servers that nothing is left of them. */
  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.proxy.stop();
    await new Promise((resolve) => {
      this.#endpoint.close(resolve);
      this.#endpoint.closeAllConnections();
    });
    // The later one first: each looks for what was not there before it.
    await this.servers[1].close();
    await this.servers[0].close();
  }
}

function dataSources(issuer: Issuer): readonly Readonly<Record<string, string>>[] {
  return [dataSource(issuer), socketDataSource(issuer)];
}

function portsOf({ app }: RunningServer, webhooks: number): ProxiedPorts {
  const { port, opsPort, websocket } = app.ready;
  if (websocket === undefined) throw new Error('the server takes no calls over WebSocket');
  return { grpc: port, ops: opsPort, websocket: websocket.port, webhooks };
}
