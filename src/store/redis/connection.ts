// The connection of this process to one Redis server, or to the primary of several. Knows no keys.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { LinePacer } from '../../base/line-pacer.ts';
import type { Logger } from '../../base/log.ts';
import { loadRedisPackage, type RedisClient, type RedisClientOptions, type RedisPackage } from './client-package.ts';
import { isRefused, reasonOf } from './failure.ts';
import { RedisLink, type LinkOptions } from './link.ts';
import { PrimaryClient, type RedisAddress } from './sentinels.ts';

const DEFAULT_PORT = 6379;

/** The server and the credentials. */
export interface RedisConnectionOptions {
  /** `redis://HOST:PORT`, or `rediss://` for TLS; with `/NUMBER` for a database other than 0. */
  readonly url: string;
  /** `HOST:PORT` of the sentinels that know the primary. Then {@link url} gives only scheme, database and, with TLS, the server name. */
  readonly sentinels?: readonly string[];
  /** The name of the primary at the sentinels. Required with sentinels. */
  readonly sentinelName?: string | undefined;
  readonly sentinelUser?: string | undefined;
  /** Secret. */
  readonly sentinelPassword?: string | undefined;
  readonly user: string | undefined;
  /** Secret. */
  readonly password: string | undefined;
  /** PEM file of the authority that issued the server's certificate; undefined: the authorities of the system. */
  readonly caFile: string | undefined;
  /** Longest wait for an answer, ms, including the wait for a new connection. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Random numbers from 0 to 1, for the pauses between connection attempts. Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: {@link loadRedisPackage}. */
  readonly load?: () => Promise<RedisPackage>;
}

/** A script; after the first use the server knows it by its hash. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/** A script in Lua; its source must be constant. */
export function redisScript(source: string): RedisScript {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/** A connection that reconnects by itself. Close it after use. */
export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  readonly #package: RedisPackage;
  readonly #client: RedisClientOptions;
  readonly #pacer: LinePacer<'down'>;
  readonly #listeners = new Set<(isUp: boolean) => void>();
  readonly #commands: RedisLink;
  #isUp = false;
  #isClosed = false;

  private constructor(options: RedisConnectionOptions, loaded: RedisPackage, ca: string | undefined) {
    this.#options = options;
    this.#package = loaded;
    this.#client = clientOptions(options, ca);
    this.#pacer = new LinePacer(options.clock);
    this.#commands = new RedisLink(this.#linkOptions());
  }

  /**
   * Connects, and waits for the first attempt in bounded time. An unreachable server is no error: the connection is established as soon as
   * possible.
   *
   * @throws AppError `config_invalid` when the package @redis/client is not installed or the CA file cannot be read.
   */
  static async open(options: RedisConnectionOptions): Promise<RedisConnection> {
    const { caFile, load = loadRedisPackage } = options;
    const [loaded, ca] = await Promise.all([load(), caFile === undefined ? undefined : readAuthority(caFile)]);
    const connection = new RedisConnection(options, loaded, ca);
    await connection.#commands.tried;
    return connection;
  }

  /** Whether commands can be sent now. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Calls `listener` whenever {@link isUp} changes, until the returned function is called. The listener must not throw. */
  onChange(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends one command. Waits briefly when the connection has just been lost. Never repeats a command that was sent.
   *
   * @throws AppError `store_unavailable` within the timeout, also for an error answer; `details.reason` is then its first word.
   */
  send(args: readonly string[]): Promise<unknown> {
    return this.#commands.send(args);
  }

  /** Runs a script that works on one key. @throws AppError `store_unavailable`, as `send`. */
  async run(script: RedisScript, key: string, args: readonly string[]): Promise<unknown> {
    const { clock, timeoutMs } = this.#options;
    const untilMs = clock.monotonicMs() + timeoutMs;
    try {
      return await this.send(['EVALSHA', script.sha1, '1', key, ...args]);
    } catch (thrown) {
      // The server was restarted and does not know the script, so nothing was executed.
      if (!(thrown instanceof AppError) || thrown.details['reason'] !== 'NOSCRIPT') throw thrown;
      return this.#commands.send(['EVAL', script.source, '1', key, ...args], Math.max(0, untilMs - clock.monotonicMs()));
    }
  }

  /** Closes everything in bounded time. Pending commands fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#isUp = false;
    await this.#commands.close();
  }

  #linkOptions(): LinkOptions {
    const { timeoutMs, clock, random = Math.random } = this.#options;
    /** The reason that was logged last since the link went down; undefined: none. */
    let logged: string | undefined;
    return {
      createClient: () => this.#createClient(),
      isRefusal: (thrown) => this.#package.isRefusal(thrown),
      timeoutMs,
      clock,
      random,
      onUp: () => {
        if (logged !== undefined) this.#options.log.info(this.#logFields(), 'the connection to the Redis server is back');
        logged = undefined;
        this.#change(true);
      },
      onDown: (failure) => {
        logged = this.#logLoss(failure, logged);
        this.#change(false);
      },
    };
  }

  #createClient(): RedisClient {
    const redis = this.#package;
    const { sentinels = [], sentinelName = '', sentinelUser, sentinelPassword, timeoutMs, clock } = this.#options;
    if (sentinels.length === 0) return redis.createClient(this.#client);
    // Each sentinel's certificate has its own name.
    const asSentinel = { ...this.#client, database: 0, user: sentinelUser, password: sentinelPassword };
    return new PrimaryClient({
      addresses: sentinels.map((sentinel) => addressOf(new URL(`redis://${sentinel}`))),
      name: sentinelName,
      createSentinel: (address) => redis.createClient({ ...asSentinel, ...address, tls: tlsFor(address.host, this.#client.tls) }),
      createPrimary: (address) => redis.createClient({ ...this.#client, ...address }),
      isRefusal: (thrown) => redis.isRefusal(thrown),
      timeoutMs,
      clock,
    });
  }

  /** Logs a failure when its reason differs from the last logged one. @returns the reason that is now the last logged one. */
  #logLoss(failure: AppError, logged: string | undefined): string | undefined {
    const reason = isRefused(failure) ? reasonOf(failure) : 'gone';
    if (reason === logged) return logged;
    const leftOut = this.#pacer.next('down');
    if (leftOut === undefined) return logged;
    const fields = { ...this.#logFields(), leftOut, err: failure };
    this.#options.log.warn(fields, 'there is no connection to the Redis server; trying again');
    return reason;
  }

  #logFields(): Readonly<Record<string, string | number>> {
    const { host, port } = this.#client;
    const { sentinels = [], sentinelName = '' } = this.#options;
    return sentinels.length === 0 ? { redis: host, port } : { redis: sentinelName };
  }

  #change(isUp: boolean): void {
    if (this.#isUp === isUp || this.#isClosed) return;
    this.#isUp = isUp;
    for (const listener of this.#listeners) listener(isUp);
  }
}

function clientOptions({ url, user, password, timeoutMs }: RedisConnectionOptions, ca: string | undefined): RedisClientOptions {
  const parsed = new URL(url);
  const address = addressOf(parsed);
  return {
    ...address,
    tls: parsed.protocol === 'rediss:' ? tlsFor(address.host, { ca }) : undefined,
    database: Number(parsed.pathname.slice(1)),
    user,
    password,
    connectTimeoutMs: timeoutMs,
  };
}

function addressOf({ hostname, port }: URL): RedisAddress {
  return { host: hostname.replace(/^\[|\]$/gu, ''), port: port === '' ? DEFAULT_PORT : Number(port) };
}

function tlsFor(host: string, tls: { readonly ca: string | undefined } | undefined): RedisClientOptions['tls'] {
  // No server name for IP addresses: TLS does not allow them there.
  return tls && { ca: tls.ca, servername: isIP(host) === 0 ? host : undefined };
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new AppError('config_invalid', `the CA file ${file} of the Redis server cannot be read`, { details: { file }, cause });
  }
}
