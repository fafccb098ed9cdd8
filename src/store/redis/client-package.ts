// Loads the optional Redis client package on demand, and narrows its types to the used part. Knows no settings and opens nothing.
import type * as Installed from '@redis/client';
import { AppError } from '../../base/errors.ts';

/** The used part of the package's client. */
export interface RedisClient {
  /** `connect`: the server accepted the connection. `ready`: the login succeeded. `end`: we have closed the connection. */
  on(event: 'connect' | 'ready' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  /** Fails all pending commands. Does not stop a connection attempt. */
  destroy(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/** The address, the credentials and the limit of a connection. */
export interface RedisClientOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: without TLS. */
  readonly tls: { readonly ca: string | undefined; readonly servername: string | undefined } | undefined;
  readonly database: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Limit for a connection attempt, ms. */
  readonly connectTimeoutMs: number;
}

/** The used part of the package. */
export interface RedisPackage {
  /** A client that is not connected yet, and never reconnects by itself. */
  createClient(options: RedisClientOptions): RedisClient;
  /** Whether the error is an error answer of the server. */
  isRefusal(thrown: unknown): thrown is Error;
}

/** Our name in the server's list of clients. */
const CLIENT_NAME = 'parley';

/**
 * Loads the package.
 *
 * @param load - default: the installed package.
 * @throws AppError `config_invalid` when it is not installed, `internal` when it cannot be loaded.
 */
export async function loadRedisPackage(load: () => Promise<typeof Installed> = installed): Promise<RedisPackage> {
  const { RedisClient, ErrorReply } = await load().catch((cause: unknown) => {
    throw notLoaded(cause);
  });
  // The package's `createClient` makes a class with hundreds of commands for each new address, which blocks calls for tens of milliseconds.
  const createClient = RedisClient.factory();
  return {
    createClient: ({ host, port, tls, database, user, password, connectTimeoutMs }) => {
      const socket = { host, port, connectTimeout: connectTimeoutMs, reconnectStrategy: false as const };
      return createClient({
        name: CLIENT_NAME,
        database,
        ...(user === undefined ? {} : { username: user }),
        ...(password === undefined ? {} : { password }),
        socket: tls === undefined ? socket : { ...socket, ...tlsOptions(tls) },
        disableOfflineQueue: true,
        // The sender of each command has a deadline. The package's timeout covers only the sending, and costs a signal per command.
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
