// A redis-server that keeps what it is told through a restart, and one that follows it and can take its place. Debian's
// programs; the store that speaks to them is not known here.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { Child } from './child.ts';

const run = promisify(execFile);
/** Longest wait for one answer, ms. */
const ANSWER_LIMIT_MS = 5000;
/** What was answered is in the file by then: only a machine that dies could lose the last second. A copy need not wait for others. */
const KEEPS = ['--save', '', '--appendonly', 'yes', '--repl-diskless-sync-delay', '0'];

/** One server. Whoever starts it stops it. */
export class KeptRedis {
  readonly port: number;
  /** Where it keeps what it is told. */
  readonly folder: string;
  readonly #follows: number | undefined;
  #child: Child | undefined;

  private constructor(port: number, folder: string, follows: number | undefined) {
    this.port = port;
    this.folder = folder;
    this.#follows = follows;
  }

  /** @param follows - port of the server whose copy it is; default none. */
  static async start(follows?: number): Promise<KeptRedis> {
    const redis = new KeptRedis(await freePort(), await mkdtemp(path.join(tmpdir(), 'parley-kept-redis-')), follows);
    await redis.again();
    return redis;
  }

  /** Starts it after it was killed: at the same port, with what it was told before. @param flags - win over its own. */
  async again(...flags: readonly string[]): Promise<void> {
    const follow = this.#follows === undefined ? [] : ['--replicaof', '127.0.0.1', String(this.#follows)];
    const child = new Child({
      command: 'redis-server',
      args: ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.folder, ...KEEPS, ...follow, ...flags],
      cwd: this.folder,
    });
    this.#child = child;
    await until(
      () => `redis-server answers; it said: ${child.said}`,
      async () => {
        if (child.isOver) throw new Error(`redis-server has ended; it said: ${child.said}`);
        // While it still reads its file it says LOADING.
        return (await this.ask('PING').catch(() => '')) === 'PONG';
      },
    );
    if (this.#follows === undefined) return;
    await until('the copy is whole', async () => (await this.ask('INFO', 'replication')).includes('master_link_status:up'));
  }

  /** With SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  /** It is killed and starts again knowing nothing. */
  async lose(): Promise<void> {
    await this.forget();
    await this.again();
  }

  /** It is killed, and what it kept is removed. */
  async forget(): Promise<void> {
    await this.kill();
    for (const name of await readdir(this.folder)) await rm(path.join(this.folder, name), { recursive: true });
  }

  /** It stands still until `thaw`: connections stay, and nothing is answered. */
  freeze(): void {
    this.#child?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#child?.signal('SIGCONT');
  }

  /** The copy becomes a server of its own. */
  async promote(): Promise<void> {
    await this.ask('REPLICAOF', 'NO', 'ONE');
  }

  /** What it answers to one command, as its own client shows it. */
  async ask(...words: readonly string[]): Promise<string> {
    const { stdout } = await run('redis-cli', ['-p', String(this.port), ...words], {
      timeout: ANSWER_LIMIT_MS,
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout.trimEnd();
  }

  /** Ends it and removes what it kept. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
