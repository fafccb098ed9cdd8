// Whether this is a developer's own server. Decided here and nowhere else, because such a server logs what others must not.
import { isLoopback } from '../base/loopback.ts';
import { createLogger, type Logger, type ProcessLogger } from '../base/log.ts';
import type { Settings } from './config/settings.ts';

/** True when no token is asked for and nobody can call from another machine. */
export function isDevelopment({ auth, grpc, websocket, ops }: Settings): boolean {
  const forSockets = websocket.listen === 'own' ? websocket.host : ops.host;
  return !auth.enabled && isLoopback(grpc.host) && (!websocket.enabled || isLoopback(forSockets));
}

export function serverLogger(settings: Settings): ProcessLogger {
  return createLogger({ level: settings.log.level, isDevelopment: isDevelopment(settings) });
}

/** A line for whoever runs a server behind a proxy of its own machine, whose callers are real: it must not say this. */
export function sayIfDevelopment(settings: Settings, log: Logger): void {
  if (!isDevelopment(settings)) return;
  log.info(
    { event: 'development' },
    'no token is asked for and only this machine can call: the log shows messages of errors and the words of callers',
  );
}
