// A server of its own process that is fuzzed, and what must hold of it all the while: it lives, its log has no fault and no secret, its
// memory stays bounded, and a call beside it goes on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { writeThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import { loadContract } from '../../src/contract/grpc.ts';
import type { PlatformProfile } from '../../src/contract/profile.ts';
import { placeCall } from '../../src/fake-platform/caller/caller.ts';
import type { Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { compiledFlags, compiledMain } from '../../test/support/compiled-program.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../../test/support/server-flags.ts';
import { MeasuredProcess } from '../bench/measured-process.ts';
import { gauge, LogWatch } from '../soak-watch.ts';
import { CANARY, ORGANIZATION } from './messages.ts';
import type { Target } from './target.ts';

const MB = 2 ** 20;
/** What may be kept on purpose when everything has ended, bytes. */
const MAX_GROWTH = { heap: 48 * MB, rss: 300 * MB } as const;
/** Longest wait for the end of what strangers have left behind, ms: vanished callers are missed after twenty seconds. */
const QUIET_MS = 60_000;
const BETWEEN_CALLS_MS = 300;
/** Members of log lines that the client names. A mutation may copy the canary into an id, which is logged on purpose. */
const CLIENT_IDS: ReadonlySet<string> = new Set(['conversationId', 'organizationId', 'agentId', 'turnId', 'trackingId']);
const FLAGS = [
  ...['--websocket.enabled=true', '--websocket.host=127.0.0.1', '--websocket.port=0', '--log.level=info', '--json'],
  ...['--sessions.idle_timeout_ms=20000', '--sessions.sweep_ms=2000', '--shutdown.grace_ms=1000', '--telemetry.timeline_calls=20'],
];

/** What the calls beside it met. */
export interface Health {
  calls: number;
  slowestFirstSoundMs: number;
}

export class LiveServer {
  readonly target: Target;
  readonly health: Health = { calls: 0, slowestFirstSoundMs: 0 };
  readonly #process: MeasuredProcess;
  readonly #opsPort: number;
  readonly #folder: string;
  readonly #profile: PlatformProfile;
  readonly #report: (wrong: string) => void;
  #before: { readonly heap: number; readonly rss: number } | undefined;

  private constructor(
    process: MeasuredProcess,
    opsPort: number,
    folder: string,
    target: Target,
    profile: PlatformProfile,
    report: (wrong: string) => void,
  ) {
    this.#process = process;
    this.#opsPort = opsPort;
    this.#folder = folder;
    this.target = target;
    this.#profile = profile;
    this.#report = report;
  }

  /**
   * Starts one. Call `close`.
   *
   * @param socketToken - a good token for WebSocket, and the claims of its data source.
   * @param report - learns, once for each, what is wrong with the server itself.
   */
  static async start(
    issuer: Issuer,
    profile: PlatformProfile,
    web: { readonly token: string; readonly url: string; readonly schemaId: string },
    report: (wrong: string) => void,
  ): Promise<LiveServer> {
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-fuzz-'));
    const certificate = await writeThrowAwayCertificate(folder, systemClock.nowMs());
    const source = dataSource(issuer);
    const sources = [source, { ...source, id: 'ds-socket', url: web.url, schema_id: web.schemaId, transport: 'websocket' }];
    const token = await issuer.issueToken({ lifetimeMinutes: 1380 });
    const secrets = [CANARY, token, web.token, issuer.claims.nonce];
    const log = new LogWatch((line) => {
      report(`logged: ${messageOf(line)}`);
    });
    const flags = compiledFlags([...serverFlags(issuer, certificate, sources), ...WITH_TEST_BOTS, ...FLAGS]);
    const child = new MeasuredProcess({
      args: [compiledMain(), 'serve', ...flags],
      core: undefined,
      onStderr: (line) => {
        const members = membersWith(secrets, line);
        if (members.length > 0) report(`a secret is in the log: ${messageOf(line)} (${members.join(', ')})`);
        log.take(line);
      },
    });
    const ready = (await child.line()) as {
      readonly port: number;
      readonly opsPort: number;
      readonly websocket: { readonly port: number };
    };
    const target: Target = {
      ...{
        url: `https://localhost:${String(ready.port)}`,
        port: ready.port,
        socketPort: ready.websocket.port,
        token,
        socketToken: web.token,
      },
      ...{ certificatePem: certificate.certificatePem, callerInputPath: loadContract(profile).media.processCallerInputPath },
    };
    return new LiveServer(child, ready.opsPort, folder, target, profile, report);
  }

  get isOver(): boolean {
    return this.#process.isOver;
  }

  /** Places one call after the other over both transports until `isOver`. @param limitMs - longest wait for the first sound. */
  async callBeside(limitMs: number, isOver: () => boolean): Promise<void> {
    const { port, socketPort, token, socketToken } = this.target;
    while (!isOver() && !this.isOver) {
      await this.#call(`grpcs://localhost:${String(port)}`, token, limitMs);
      await this.#call(`wss://localhost:${String(socketPort)}`, socketToken, limitMs);
      await pause(BETWEEN_CALLS_MS);
    }
  }

  /** Notes its memory, to be compared with at the end: what is made once must be there. */
  async noteMemory(): Promise<void> {
    this.#before = await this.#memory();
  }

  /** Waits until everything has ended, and looks at what is left of it. */
  async demandQuiet(): Promise<void> {
    if (this.isOver) {
      this.#report('the server has ended');
      return;
    }
    const untilMs = performance.now() + QUIET_MS;
    for (const name of ['parley_turns_open', 'parley_sessions_open']) {
      while ((await gauge(this.#opsPort, name)) !== 0 && performance.now() < untilMs) await pause(500);
      if ((await gauge(this.#opsPort, name)) !== 0) this.#report(`${name} is not 0 when everybody has gone`);
    }
    const [before, after] = [this.#before, await this.#memory()];
    if (before === undefined) return;
    for (const kind of ['heap', 'rss'] as const)
      if (after[kind] - before[kind] > MAX_GROWTH[kind])
        this.#report(`${kind} grew by ${String(Math.round((after[kind] - before[kind]) / MB))} MB`);
  }

  async close(): Promise<void> {
    await this.#process.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #memory(): Promise<{ readonly heap: number; readonly rss: number }> {
    const { heapUsed, external, rss } = await this.#process.ask('memory');
    return { heap: heapUsed + external, rss };
  }

  async #call(target: string, token: string, limitMs: number): Promise<void> {
    const startedMs = performance.now();
    let firstMs: number | undefined;
    const { outcome, findings } = await placeCall({
      ...{ target, token, organizationId: ORGANIZATION, profile: this.#profile, keepsSound: false, script: [] },
      certificateAuthority: Buffer.from(this.target.certificatePem),
      limits: { connectMs: 20_000, answerMs: 20_000, hangUpMs: 20_000 },
      onReply: () => (firstMs ??= performance.now() - startedMs),
    });
    this.health.calls += 1;
    this.health.slowestFirstSoundMs = Math.max(this.health.slowestFirstSoundMs, Math.round(firstMs ?? 0));
    const transport = target.split(':')[0] ?? '';
    if (firstMs === undefined || outcome === 'failed' || findings.length > 0)
      this.#report(
        `a call beside it over ${transport}: ${outcome}, ${findings.map(({ code, message }) => `${code}: ${message}`).join('; ')}`,
      );
    else if (firstMs > limitMs) this.#report(`a call beside it over ${transport} waited too long for its first sound`);
  }
}

/** The members of a log line that hold a secret, or the whole line when it is no JSON. */
function membersWith(secrets: readonly string[], line: string): readonly string[] {
  if (!secrets.some((secret) => line.includes(secret))) return [];
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== 'object' || parsed === null) return ['the whole line'];
    const members = Object.entries(parsed).map(([name, value]) => ({ name, text: `${name}:${JSON.stringify(value)}` }));
    return members
      .filter(({ name, text }) => secrets.some((secret) => text.includes(secret) && !(secret === CANARY && CLIENT_IDS.has(name))))
      .map(({ name }) => name);
  } catch {
    return ['the whole line'];
  }
}

function messageOf(line: string): string {
  try {
    const { msg } = JSON.parse(line) as { readonly msg?: string };
    return msg ?? 'a line without a message';
  } catch {
    return line.slice(0, 100);
  }
}
