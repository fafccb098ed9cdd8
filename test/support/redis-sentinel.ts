// Sentinels over Redis servers of a test, as processes of their own on loopback. Whoever starts one stops it.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { askSentinel, type RedisServerOptions } from './redis-server.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** What the sentinels of the tests call their primary. */
export const PRIMARY_NAME = 'calls';
/** Time after which a primary that does not answer counts as gone, ms. */
const DOWN_AFTER_MS = 500;

const TLS = ['tls-cert-file cert.pem', 'tls-key-file key.pem', 'tls-auth-clients no'];

/** Its own password, and who signs its certificate for `localhost`; without one it speaks no TLS. */
type SentinelOptions = Pick<RedisServerOptions, 'password' | 'authority'>;

/** One sentinel. */
export class RedisSentinel {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #options: SentinelOptions;

  private constructor(port: number, folder: string, options: SentinelOptions) {
    this.port = port;
    this.#folder = folder;
    this.#options = options;
    this.#child = spawn('redis-server', [path.join(folder, 'sentinel.conf'), '--sentinel'], { stdio: 'ignore' });
  }

  /** @param agreed - how many sentinels must take the primary for gone. */
  static async start(primary: { readonly port: number }, agreed: number, options: SentinelOptions = {}): Promise<RedisSentinel> {
    const { password, authority } = options;
    const folder = await mkdtemp(path.join(tmpdir(), 'parley-sentinel-'));
    const port = await freePort();
    const lines = [
      ...['bind 127.0.0.1', `dir ${folder}`],
      ...(authority === undefined ? [`port ${String(port)}`] : ['port 0', `tls-port ${String(port)}`, ...TLS]),
      `sentinel monitor ${PRIMARY_NAME} 127.0.0.1 ${String(primary.port)} ${String(agreed)}`,
      `sentinel down-after-milliseconds ${PRIMARY_NAME} ${String(DOWN_AFTER_MS)}`,
      `sentinel failover-timeout ${PRIMARY_NAME} 3000`,
      ...(password === undefined ? [] : [`requirepass ${password}`]),
      '',
    ];
    await writeFile(path.join(folder, 'sentinel.conf'), lines.join('\n'));
    if (authority !== undefined) {
      const { cert, key } = await authority.issue();
      await Promise.all([writeFile(path.join(folder, 'cert.pem'), cert), writeFile(path.join(folder, 'key.pem'), key)]);
    }
    const sentinel = new RedisSentinel(port, folder, options);
    await until('a sentinel answers', async () => (await sentinel.ask('PING').catch(() => '')).includes('+PONG'));
    return sentinel;
  }

  /** As settings have it. */
  get address(): string {
    return `${this.#options.authority === undefined ? '127.0.0.1' : 'localhost'}:${String(this.port)}`;
  }

  /** Resolves when enough sentinels know of each other to agree on a failover to `replicas` servers. */
  async agrees(replicas: number): Promise<void> {
    await until('the sentinels know each other', async () => (await this.ask('SENTINEL', 'CKQUORUM', PRIMARY_NAME)).includes('OK '));
    let said = '';
    await until(
      () => `the sentinel knows so many replicas: ${String(replicas)}; it said: ${said}`,
      async () => {
        said = await this.ask('SENTINEL', 'REPLICAS', PRIMARY_NAME);
        return said.startsWith(`*${String(replicas)}`);
      },
    );
  }

  ask(...words: readonly string[]): Promise<string> {
    return askSentinel(this.port, words, this.#options);
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = new Promise((resolve) => this.#child.once('close', resolve));
      this.#child.kill('SIGKILL');
      await gone;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
