// The real server on a free port of loopback: TLS with a throw-away certificate, the token check on with an issuer of
// its own, its log caught. Closing it proves that nothing is left of it.
import { expect } from 'vitest';
import { createApp, type App, type AppOptions } from '../../src/app/app.ts';
import { loadSettings, type LoadedSettings } from '../../src/app/config/load-settings.ts';
import { ownProcess } from '../../src/app/control/own-process.ts';
import type { Clock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { sharedCertificate, type TestCertificate } from './certificate.ts';
import { CountedClock } from './counted-clock.ts';
import { PlatformClient, type PlatformClientOptions } from './platform-client.ts';
import { dataSource, serverFlags } from './server-flags.ts';
import { until } from './until.ts';

export { dataSource, serverFlags, SPEAKS_ANEW, TEST_SPEECH, WITH_TEST_BOTS } from './server-flags.ts';

/** One line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** How the server is started. */
export interface ServerOptions {
  /** Flags as an operator would give them; they win over those given here. */
  readonly flags?: readonly string[];
  /** Default: the real clock. The issuer signs by the same one. */
  readonly clock?: Clock;
  /** Default true. */
  readonly hasTls?: boolean;
  /** Default: {@link dataSource} alone. */
  readonly dataSources?: (issuer: Issuer) => readonly Readonly<Record<string, unknown>>[];
  readonly onAuthorization?: AppOptions['onAuthorization'];
}

/** A running server and what surrounds it. */
export class RunningServer {
  readonly app: App;
  readonly issuer: Issuer;
  readonly certificate: TestCertificate;
  readonly log: readonly LogLine[];
  readonly #clock: CountedClock;
  readonly #before: readonly string[];
  readonly #hasTls: boolean;
  readonly #clients: PlatformClient[] = [];

  private constructor(
    app: App,
    issuer: Issuer,
    certificate: TestCertificate,
    log: readonly LogLine[],
    clock: CountedClock,
    before: readonly string[],
    hasTls: boolean,
  ) {
    this.app = app;
    this.issuer = issuer;
    this.certificate = certificate;
    this.log = log;
    this.#clock = clock;
    this.#before = before;
    this.#hasTls = hasTls;
  }

  /** Starts a server. Whoever starts it closes it. */
  static async start(options: ServerOptions = {}): Promise<RunningServer> {
    const { flags = [], clock: time, hasTls = true, dataSources = (issuer: Issuer) => [dataSource(issuer)], onAuthorization } = options;
    const certificate = await sharedCertificate();
    const before = process.getActiveResourcesInfo();
    const clock = new CountedClock(time);
    const issuer = await startIssuer({ profile: loadProfile('fake'), ...(time === undefined ? {} : { clock: time }) });
    const log: LogLine[] = [];
    // A test that leaves callers behind does not wait for them.
    const argv = [...serverFlags(issuer, hasTls ? certificate : undefined, dataSources(issuer)), '--shutdown.grace_ms=0', ...flags];
    const load = (): LoadedSettings => loadSettings({ argv, env: {}, cwd: packageRoot() });
    const loaded = load();
    const { settings, changing } = loaded;
    try {
      const destination = {
        write: (line: string) => {
          log.push(JSON.parse(line) as LogLine);
        },
      };
      const own = ownProcess('server', loaded, load, { root: createLogger({ level: settings.log.level, destination }) });
      const app = await createApp({ settings, changing, clock, own, onAuthorization });
      return new RunningServer(app, issuer, certificate, log, clock, before, hasTls);
    } catch (error) {
      certificate.remove();
      await issuer.close();
      throw error;
    }
  }

  /** `localhost:PORT`, a name that the certificate has. */
  get target(): string {
    return `localhost:${String(this.app.ready.port)}`;
  }

  /** A client with a valid token; it is closed with the server. */
  async client(options: Partial<PlatformClientOptions> = {}): Promise<PlatformClient> {
    const client = new PlatformClient({
      target: this.target,
      authority: this.#hasTls ? this.certificate.certificatePem : undefined,
      authorization: await this.issuer.issueToken(),
      organizationId: this.issuer.claims.organizationId,
      ...options,
    });
    this.#clients.push(client);
    return client;
  }

  /** Lines of the log that have all these members. */
  logged(members: LogLine): readonly LogLine[] {
    return this.log.filter((line) => Object.entries(members).every(([key, value]) => line[key] === value));
  }

  /** The value of one metric, with its labels as they are printed; undefined when there is none. */
  async metric(name: string): Promise<number | undefined> {
    const answer = await fetch(`http://127.0.0.1:${String(this.app.ready.opsPort)}/metrics`);
    const line = (await answer.text()).split('\n').find((text) => text.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  }

  /** Waits until no turn and, unless told otherwise, no session is open. */
  async quiet(sessions = 0): Promise<void> {
    await until(
      () => `nothing is left open: ${String(this.app.openTurns())} turns, ${String(this.app.openSessions())} sessions`,
      () => this.app.openTurns() === 0 && this.app.openSessions() === sessions,
    );
  }

  /**
   * Closes everything and demands that no session, turn, timer, socket or thread is left, and that nothing went wrong.
   *
   * @param expected - the events of errors that a test has brought about.
   */
  async close(expected: readonly string[] = []): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.app.close();
    await this.issuer.close();
    this.certificate.remove();
    expect({ sessions: this.app.openSessions(), turns: this.app.openTurns() }).toEqual({ sessions: 0, turns: 0 });
    expect(this.#clock.pendingTimers, 'timers of the server').toBe(0);
    await until(
      () =>
        `no socket, timer or thread is left of the server: ${JSON.stringify(addedResources(this.#before, process.getActiveResourcesInfo()))}`,
      () => addedResources(this.#before, process.getActiveResourcesInfo()).length === 0,
    );
    const errors = this.logged({ level: 'error' }).filter(({ event }) => typeof event !== 'string' || !expected.includes(event));
    expect(errors, 'errors in the log').toEqual([]);
  }
}

/** What is there now and was not before. Counted by kind, because resources have no names. */
export function addedResources(before: readonly string[], now: readonly string[]): readonly string[] {
  const known = [...before];
  return now.filter((kind) => {
    const index = known.indexOf(kind);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}
