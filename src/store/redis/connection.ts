// The connection of this process to one Redis server, or to the primary of several, for whoever keeps something there. Knows no keys.
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

/** Which server, and how. */
export interface RedisConnectionOptions {
  /** `redis://HOST:PORT`, or `rediss://` for TLS; with `/NUMBER` for another database than 0. */
  readonly url: string;
  /** `HOST:PORT` of the sentinels that know where the server is; of {@link url} they leave scheme, database and, with TLS, the name. */
  readonly sentinels?: readonly string[];
  /** What the sentinels call the server. Needed where there are any. */
  readonly sentinelName?: string | undefined;
  readonly sentinelUser?: string | undefined;
  /** Secret. */
  readonly sentinelPassword?: string | undefined;
  readonly user: string | undefined;
  /** Secret. */
  readonly password: string | undefined;
  /** PEM file of the authority that signed the certificate of the server; undefined: those that the system trusts. */
  readonly caFile: string | undefined;
  /** Longest wait for an answer, ms, a lost connection included. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Draws numbers from 0 to 1 for the pauses between tries. Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: {@link loadRedisPackage}. */
  readonly load?: () => Promise<RedisPackage>;
}

/** A script for the server, known to it by its hash once it has seen it. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/** A script in Lua; its source must not depend on anything that changes. */
export function redisScript(source: string): RedisScript {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/** Whoever opened it closes it. */
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
   * Begins to connect and waits for the first try, in bounded time. A server that is away is no failure: the connection
   * comes about by itself as soon as it can.
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

  /** Calls `listener`, which must not throw, whenever {@link isUp} changes, until the returned function is called. */
  onChange(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends one command. A connection that has only just been lost is waited for; a command that was sent before is not
   * repeated.
   *
   * @throws AppError `store_unavailable` within the timeout, also for an answer that says no; `details.reason` is its word.
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
      // A server that was started anew has not seen it, and has done nothing.
      if (!(thrown instanceof AppError) || thrown.details['reason'] !== 'NOSCRIPT') throw thrown;
      return this.#commands.send(['EVAL', script.source, '1', key, ...args], Math.max(0, untilMs - clock.monotonicMs()));
    }
  }

  /** Gives everything up, in bounded time. What waits fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#isUp = false;
    await this.#commands.close();
  }

  #linkOptions(): LinkOptions {
    const { timeoutMs, clock, random = Math.random } = this.#options;
    /** What a log line has said of the link since it went down. */
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
    // Its own name stands in the certificate of each sentinel.
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

  /** One line for a server that is gone, and one for each word with which it says no; however often. @returns what was said. */
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
  // Addresses are no names that a server could have several certificates for.
  return tls && { ca: tls.ca, servername: isIP(host) === 0 ? host : undefined };
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new AppError('config_invalid', `the CA file ${file} of the Redis server cannot be read`, { details: { file }, cause });
  }
}
