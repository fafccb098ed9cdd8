// The operations server of a process: health, metrics, recent calls and the console.
import type { Clock } from '../base/clock.ts';
import { consoleFile } from '../base/console-files.ts';
import type { Logger } from '../base/log.ts';
import type { ConsoleSource } from '../ops/console-routes.ts';
import type { OpsServer } from '../ops/http-server.ts';
import type { MetricsSource } from '../ops/routes.ts';
import type { Readiness } from '../ops/readiness.ts';
import type { CallTimelines } from '../telemetry/call-timeline.ts';
import type { RefusedOrganizations } from '../telemetry/refused-organizations.ts';
import type { Settings } from './config/settings.ts';
import type { OpenSockets } from './servers.ts';

export interface Shown {
  readonly readiness: Readiness;
  readonly metrics: MetricsSource;
  readonly calls: CallTimelines;
  readonly refused: RefusedOrganizations;
  readonly console: ConsoleSource;
}

export interface OperationsParts {
  readonly shown: Shown;
  /** The WebSocket server when it shares the port of the operations server. */
  readonly sockets: OpenSockets | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Starts the operations server. @throws AppError `listen_failed`. */
export async function startOperations(settings: Settings, { shown, sockets, clock, log }: OperationsParts): Promise<OpsServer> {
  const { startOpsServer } = await import('../ops/http-server.ts');
  const { readiness, metrics, calls, refused, console: source } = shown;
  const isShared = sockets !== undefined && sockets.own === undefined;
  return startOpsServer({
    ...settings.ops,
    ...(isShared && { upgrades: { take: sockets.server.upgrade, maxConnections: settings.websocket.maxConnections } }),
    ...{ readiness, metrics, clock, log, shows: { source, file: consoleFile } },
    calls: {
      recent: () => ({ calls: calls.recent(), refused: refused.most }),
      find: (conversationId) => calls.find(conversationId),
    },
  });
}
