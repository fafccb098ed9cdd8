// Decides whether this is a developer's own server, the only kind that logs what callers say. No other module decides that.
import { isLoopback } from '../base/loopback.ts';
import { createLogger, type Logger, type ProcessLogger } from '../base/log.ts';
import type { Settings } from './config/settings.ts';

/** Whether tokens are not checked and only this machine can connect. */
export function isDevelopment({ auth, grpc, websocket, ops }: Omit<Settings, 'tls'>): boolean {
  const forSockets = websocket.listen === 'own' ? websocket.host : ops.host;
  return !auth.enabled && isLoopback(grpc.host) && (!websocket.enabled || isLoopback(forSockets));
}

export function serverLogger(settings: Settings): ProcessLogger {
  return createLogger({ level: settings.log.level, isDevelopment: isDevelopment(settings) });
}

/** Warns that this is a development server: behind a proxy on the same machine the callers may be real. */
export function sayIfDevelopment(settings: Settings, log: Logger): void {
  if (!isDevelopment(settings)) return;
  log.info(
    { event: 'development' },
    'no token is asked for and only this machine can call: the log shows messages of errors and the words of callers',
  );
}
