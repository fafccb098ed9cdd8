// A day of three organizations with a server that looks after their data sources: what is there all the time, and how its time
// passes. Calls come in over every transport of the list, with every token that the platform presents. Real sockets, a real
// token check, a real store; only the time is not real.
import { randomUUID } from 'node:crypto';
import type { App } from '../../src/app/app.ts';
import type { TokenTransport } from '../../src/auth/principal.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import type { AdminApi } from '../../src/fake-platform/platform/admin-api.ts';
import type { DataSourceRecord } from '../../src/fake-platform/platform/data-source-book.ts';
import type { InitialSwitches } from '../../src/fake-platform/platform/switches.ts';
import { DrivenClock } from '../support/driven-clock.ts';
import { openSurroundings, type OpenSurroundings, type SignedToken } from '../support/open-surroundings.ts';
import type { LogLine } from '../support/running-server.ts';
import { WITH_SOCKETS } from '../support/socket-peer.ts';
import { Callers } from './callers.ts';
import { grpcLines, socketLines, type Lines } from './lines.ts';
import { PresentedTokens, type PresentedToken } from './presented-tokens.ts';
import { startServed } from './served.ts';

export const MINUTE_MS = 60_000;
/** Of the tokens of data sources. */
const LIFETIME_MINUTES = 90;
export const LEAD_MINUTES = 20;
/** Between two rounds of calls. */
export const ROUND_MINUTES = 20;
/** Between two looks at what is well. */
const CHECK_SECONDS = 1800;
/** Tokens of the integration and of organizations end every two hours; a refresh makes the refresh token before worthless. */
const SWITCHES = { accessTokenSeconds: 7200, refreshTokenSeconds: 18_000, refreshTokens: 'rotate' } as const satisfies InitialSwitches;

/** A data source of each organization, and the calls that come in because of it. */
export interface DayTransport {
  readonly name: TokenTransport;
  /** As its data sources are registered. */
  readonly url: string;
  readonly schemaId: string;
  /** Settings of a server that registers them and takes their calls. */
  readonly flags: readonly string[];
  readonly tokens: PresentedTokens;
  readonly callers: Pick<
    Callers,
    'calls' | 'refused' | 'broken' | 'described' | 'isConnected' | 'connect' | 'disconnect' | 'place' | 'callWithAll'
  >;
  /** The way to calls. */
  readonly open: (target: string) => Lines;
  /** Where a running server takes its calls. */
  readonly targetOf: (ready: App['ready']) => string;
}

/** The two transports, each with addresses of its own form (W-03). */
function transportsOf(clock: DrivenClock): readonly DayTransport[] {
  const { schemas } = loadProfile('fake');
  const own = (name: TokenTransport, open: DayTransport['open']) => {
    const tokens = new PresentedTokens({ clock, skewMs: () => 0, earliestMs: 1.1 * LEAD_MINUTES * MINUTE_MS });
    return { name, open, tokens, schemaId: schemas[name], callers: new Callers({ tokens, clock, open, random: () => 0 }) };
  };
  const [url, socketUrl] = ['http://127.0.0.1:50051', 'ws://127.0.0.1:50061'];
  return [
    {
      ...own('grpc', grpcLines),
      url,
      flags: [`--admin.data_sources.url=${url}`],
      targetOf: ({ port }) => `localhost:${String(port)}`,
    },
    {
      ...own('websocket', socketLines),
      url: socketUrl,
      flags: [...WITH_SOCKETS, `--admin.data_sources.websocket_url=${socketUrl}`],
      targetOf: ({ websocket }) => `ws://localhost:${String(websocket?.port)}`,
    },
  ];
}

/** The day. `begin` it, let its rounds pass, and `end` it. */
export class Day {
  readonly clock = new DrivenClock();
  readonly organizations = [randomUUID(), randomUUID(), randomUUID()] as const;
  readonly transports = transportsOf(this.clock);
  readonly log: LogLine[] = [];
  /** What the servers of the day have counted, by the name of a metric with its labels. */
  readonly counted = new Map<string, number>();
  /** Every token that was signed for us, by the name of its transport. */
  readonly #signed = new Map<TokenTransport, PresentedToken[]>();
  #around: OpenSurroundings | undefined;
  #app: App | undefined;
  #rounds = 0;

  async begin(): Promise<void> {
    this.#around = await openSurroundings({ clock: this.clock, switches: SWITCHES, onSigned: (signed) => this.#sign(signed) });
    this.clock.drive({ stepMs: 250, leapMs: 30_000 });
    for (const organizationId of this.organizations) this.api.authorize(organizationId);
    await this.serve();
  }

  /** A server begins. */
  async serve(): Promise<void> {
    const write = (line: string): void => void this.log.push(JSON.parse(line) as LogLine);
    const flags = [
      ...this.transports.flatMap((transport) => transport.flags),
      `--admin.data_sources.transports=${JSON.stringify(this.transports.map(({ name }) => name))}`,
      `--admin.data_sources.token_lifetime_minutes=${String(LIFETIME_MINUTES)}`,
      `--admin.data_sources.renewal_lead_minutes=${String(LEAD_MINUTES)}`,
      '--admin.data_sources.retry_interval_s=120',
      `--admin.data_sources.check_interval_s=${String(CHECK_SECONDS)}`,
    ];
    // They are known although nobody was there to be told of them (H-25).
    const { organizations, clock } = this;
    this.#app = await startServed(this.#open, { clock, organizations, flags, write });
    for (const { callers, targetOf } of this.transports) callers.connect(targetOf(this.#app.ready));
  }

  /** The server ends; what it counted is kept. */
  async leave(): Promise<void> {
    // Whatever it begins from now on is counted by nobody.
    await this.clock.atRest(async () => {
      for (const [name, value] of await this.metrics()) this.counted.set(name, (this.counted.get(name) ?? 0) + value);
      for (const { callers } of this.transports) callers.disconnect();
      await this.#running.close();
    });
  }

  async end(): Promise<void> {
    await this.leave();
    await this.clock.stop();
    await this.#open.close();
  }

  /** Some time, and then calls with every token that the platform presents, while the time stands still; every second time in an hour. */
  async round(): Promise<void> {
    await this.clock.passed(ROUND_MINUTES * MINUTE_MS);
    this.#rounds += 1;
    if (this.#rounds % 2 === 0) await this.callWithAll();
    for (const { tokens } of this.transports) tokens.look();
    this.api.journal.clear();
  }

  /** Calls of every organization, while the time stands still. */
  async callWithAll(): Promise<void> {
    for (const organizationId of this.organizations) {
      for (const { callers } of this.transports) await this.clock.hold(() => callers.callWithAll(organizationId));
    }
  }

  /** How many of these tokens are refused. */
  refusals({ open, targetOf }: DayTransport, all: readonly PresentedToken[]): Promise<number> {
    return this.clock.hold(async () => {
      const lines = open(targetOf(this.#running.ready));
      let count = 0;
      for (const presented of all) if ((await lines.call(presented).begin()) === 'refused') count += 1;
      lines.close();
      return count;
    });
  }

  /** The data sources of an organization that a transport has. */
  sources({ schemaId }: DayTransport, organizationId: string): readonly DataSourceRecord[] {
    return this.api.dataSources(organizationId).filter((source) => source.schemaId === schemaId);
  }

  /** Every token that was signed for a transport. */
  signed({ name }: DayTransport): readonly PresentedToken[] {
    return this.#signed.get(name) ?? [];
  }

  /** What the running server says of itself, by the name of a metric with its labels. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const answer = await fetch(`http://127.0.0.1:${String(this.#running.ready.opsPort)}/metrics`);
    const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('parley_'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
  }

  get api(): AdminApi {
    return this.#open.api;
  }

  get #running(): App {
    if (this.#app === undefined) throw new Error('no server has been started');
    return this.#app;
  }

  get #open(): OpenSurroundings {
    if (this.#around === undefined) throw new Error('the day has not begun');
    return this.#around;
  }

  async #sign(signed: SignedToken): Promise<void> {
    // Data sources with another address get their calls elsewhere.
    const { url, schemaId } = signed.claims;
    const transport = this.transports.find((one) => one.url === url && one.schemaId === schemaId);
    if (transport === undefined) return;
    const presented = transport.tokens.signed(signed);
    this.#signed.set(transport.name, [...this.signed(transport), presented]);
    if (!transport.callers.isConnected) return;
    await this.clock.hold(async () => {
      await (
        await transport.callers.place(presented)
      )();
    });
  }
}
