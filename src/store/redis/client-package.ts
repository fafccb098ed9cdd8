// The optional package that speaks to Redis servers: loaded when a server is wanted and not before, and narrowed to what is
// used of it. Knows no settings and opens nothing.
import type * as Installed from '@redis/client';
import { AppError } from '../../base/errors.ts';

/** One connection to be: what is used of a client of the package. */
export interface RedisClient {
  /** `connect`: the server has answered on its port. `ready`: it has let us in. `end`: the connection was closed by us. */
  on(event: 'connect' | 'ready' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  /** Fails whatever waits for an answer. Does not stop a connection that is being made. */
  destroy(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/** Where the server is and how long it may take. */
export interface RedisClientOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: without TLS. */
  readonly tls: { readonly ca: string | undefined; readonly servername: string | undefined } | undefined;
  readonly database: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Longest wait until the server has answered on its port, ms. */
  readonly connectTimeoutMs: number;
}

/** The package, narrowed. */
export interface RedisPackage {
  /** A client that is not connected yet, and that never connects again by itself. */
  createClient(options: RedisClientOptions): RedisClient;
  /** True for an answer of the server that says no. */
  isRefusal(thrown: unknown): thrown is Error;
}

/** What operators see of us in the server's own list of clients. */
const CLIENT_NAME = 'parley';

/**
 * Loads the package.
 *
 * @param load - default: from where packages are installed.
 * @throws AppError `config_invalid` when it is not installed, `internal` when it is and cannot be loaded.
 */
export async function loadRedisPackage(load: () => Promise<typeof Installed> = installed): Promise<RedisPackage> {
  const { createClient, ErrorReply } = await load().catch((cause: unknown) => {
    throw notLoaded(cause);
  });
  return {
    createClient: ({ host, port, tls, database, user, password, connectTimeoutMs }) => {
      const socket = { host, port, connectTimeout: connectTimeoutMs, reconnectStrategy: false as const };
      return createClient({
        RESP: 3,
        name: CLIENT_NAME,
        database,
        ...(user === undefined ? {} : { username: user }),
        ...(password === undefined ? {} : { password }),
        socket: tls === undefined ? socket : { ...socket, ...tlsOptions(tls) },
        disableOfflineQueue: true,
        // Who sends a command has a deadline for its answer; the package's own ends with the sending and costs a signal each.
        commandOptions: { timeout: 0 },
        disableClientInfo: true,
        maintNotifications: 'disabled',
      });
    },
    isRefusal: (thrown): thrown is Error => thrown instanceof ErrorReply,
  };
}

function installed(): Promise<typeof Installed> {
  return import('@redis/client');
}

function tlsOptions({ ca, servername }: NonNullable<RedisClientOptions['tls']>) {
  return { tls: true as const, ...(ca === undefined ? {} : { ca }), ...(servername === undefined ? {} : { servername }) };
}

function notLoaded(cause: unknown): AppError {
  const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing
    ? new AppError(
        'config_invalid',
        'store.kind is redis, and the package @redis/client is not installed; install without leaving optional packages out',
        { cause },
      )
    : new AppError('internal', 'the package @redis/client is installed and cannot be loaded', { cause });
}
