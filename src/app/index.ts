// The entry point for programs that embed the server: `import { createServer } from 'parley-voice/server'`.
import type { AuthorizationHook, OrganizationAuthorized, OrganizationDeauthorized } from '../admin/webhooks/authorization-result.ts';
import type { Logger } from '../base/log.ts';
import type { Bot } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { SessionObserver } from '../session/ports.ts';
import { createApp } from './app.ts';
import { originOf } from './config/describe-settings.ts';
import type { WrittenSettings } from './config/given-settings.ts';
import { loadSettings, type LoadedSettings } from './config/load-settings.ts';
import { ownProcess } from './control/own-process.ts';
import type { ReadySummary } from './ready-summary.ts';

export type { OrganizationAuthorized, OrganizationDeauthorized } from '../admin/webhooks/authorization-result.ts';
export { AppError, type ErrorCode } from '../base/errors.ts';
export type { TokenSource } from '../admin/token-source.ts';
export type { CallFacts } from '../dialog/call.ts';
export type { SessionEnd } from '../dialog/ending.ts';
export type { WrittenSettings as ServerSettings } from './config/given-settings.ts';

/** A call that has ended here. */
export interface EndedCall {
  readonly call: CallFacts;
  /** Who or what ended the call. */
  readonly by: SessionEnd;
}

/** What an embedding program adds. An error that a hook throws is logged, and does not affect callers. */
export interface ServerHooks {
  /** Bots that answer the calls in place of those in `bots.folder`, which is then not read. */
  readonly bots?: readonly Bot[];
  /** Called when an organization has authorized the service app. `signal` aborts when nobody waits for the hook any more. */
  readonly onAuthorized?: (organization: OrganizationAuthorized, signal: AbortSignal) => void | Promise<void>;
  /** Called when an organization has withdrawn its authorization. */
  readonly onDeauthorized?: (organization: OrganizationDeauthorized, signal: AbortSignal) => void | Promise<void>;
  /** Called when a call has ended; not for one that continues in another process. */
  readonly onCallEnded?: (ended: EndedCall) => void | Promise<void>;
  /** Aborts the start when it aborts. */
  readonly signal?: AbortSignal;
}

/** The addresses of the server. */
export interface ServerAddress {
  /** The media endpoint: `grpcs://HOST:PORT`, or `grpc://` without TLS. */
  readonly grpc: string;
  /** `wss://HOST:PORT`, or `ws://` without TLS; absent without WebSocket calls. */
  readonly websocket?: string;
  /** Health checks and metrics: `http://HOST:PORT`. */
  readonly operations: string;
}

/** A running server. */
export interface Server {
  readonly address: ServerAddress;
  /** Refuses new calls, finishes open turns within `shutdown.grace_ms`, and closes everything. Idempotent; never throws. */
  close(): Promise<void>;
}

/**
 * Starts the server of `parley serve` inside this program. Installs no signal handlers: call `close` yourself.
 *
 * @param settings - the path of a configuration file, which is read together with the `PARLEY_` variables, as by `serve`; or the settings
 * themselves with the names of that file, without any other source. Their relative paths start from the current folder. Port 0 is any free
 * port.
 * @throws AppError `config_invalid`, whose message lists every problem; `bot_invalid`, `certificate_invalid`, `listen_failed`, or the error
 * of the administration. Then nothing is left open.
 */
export async function createServer(settings: WrittenSettings | string, hooks: ServerHooks = {}): Promise<Server> {
  const load = (): LoadedSettings => loadSettings(typeof settings === 'string' ? { argv: ['--config', settings] } : { given: settings });
  const loaded = load();
  const { bots, signal, onCallEnded } = hooks;
  const own = ownProcess('server', loaded, load);
  const app = await createApp({
    ...{ settings: loaded.settings, changing: loaded.changing, originOf: originOf(loaded), bots, own },
    ...(signal !== undefined && { signal }),
    observer: onCallEnded === undefined ? undefined : endObserver(onCallEnded, own.log),
    onAuthorization: authorizationHook(hooks),
  });
  return { address: addressOf(app.ready), close: () => app.close() };
}

function endObserver(onCallEnded: NonNullable<ServerHooks['onCallEnded']>, log: Logger): SessionObserver {
  const notify = async (ended: EndedCall): Promise<void> => {
    try {
      await onCallEnded(ended);
    } catch (err) {
      log.error({ event: 'hook_failed', err, conversationId: ended.call.conversationId }, 'the hook onCallEnded failed');
    }
  };
  return {
    sessionEnded: (call, by) => {
      if (by !== 'moved') void notify({ call, by });
    },
  };
}

function authorizationHook({ onAuthorized, onDeauthorized }: ServerHooks): AuthorizationHook | undefined {
  if (onAuthorized === undefined && onDeauthorized === undefined) return undefined;
  return (result, signal) => (result.event === 'authorized' ? onAuthorized?.(result, signal) : onDeauthorized?.(result, signal));
}

function addressOf({ address, security, websocket, opsAddress }: ReadySummary): ServerAddress {
  return {
    grpc: `${security === 'TLS' ? 'grpcs' : 'grpc'}://${address}`,
    ...(websocket !== undefined && { websocket: `${websocket.security === 'TLS' ? 'wss' : 'ws'}://${websocket.address}` }),
    operations: `http://${opsAddress}`,
  };
}
