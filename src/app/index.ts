// What programs import that embed the server: `import { createServer } from 'parley-voice/server'`.
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
  /** Who ended it, or why. */
  readonly by: SessionEnd;
}

/** What an embedding program adds. What a hook throws is logged, and changes nothing for callers. */
export interface ServerHooks {
  /** Answer the calls in place of the bots in `bots.folder`, which is then not read. */
  readonly bots?: readonly Bot[];
  /** An organization has authorized the service app. `signal` aborts when nobody waits for the hook any more. */
  readonly onAuthorized?: (organization: OrganizationAuthorized, signal: AbortSignal) => void | Promise<void>;
  /** An organization has withdrawn its authorization. */
  readonly onDeauthorized?: (organization: OrganizationDeauthorized, signal: AbortSignal) => void | Promise<void>;
  /** Not for a call that goes on in another process. */
  readonly onCallEnded?: (ended: EndedCall) => void | Promise<void>;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/** Where the server answers. */
export interface ServerAddress {
  /** The media endpoint: `grpcs://HOST:PORT`, or `grpc://` without TLS. */
  readonly grpc: string;
  /** `wss://HOST:PORT`, or `ws://` without TLS; absent: no calls over WebSocket. */
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
 * Starts the server of `parley serve` inside this program. Installs no handler of signals: call `close` yourself.
 *
 * @param settings - the path of a configuration file, which is read with the `PARLEY_` variables as `serve` reads it; or the
 * settings themselves under the names of such a file, with which nothing else is read. Relative paths in them start from the
 * current folder. Port 0 is any free port.
 * @throws AppError `config_invalid`, whose message lists every problem; `bot_invalid`, `certificate_invalid`, `listen_failed`, or
 * the error of the administration. Nothing is left open then.
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
