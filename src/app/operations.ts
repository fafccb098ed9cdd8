// The operations server of a process: health, metrics, recent calls and the console.
import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { packageRoot } from '../base/package-root.ts';
import type { ConsoleSource } from '../ops/console-routes.ts';
import type { OpsServer } from '../ops/http-server.ts';
import type { Readiness } from '../ops/readiness.ts';
import type { CallTimelines } from '../telemetry/call-timeline.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RefusedOrganizations } from '../telemetry/refused-organizations.ts';
import type { Settings } from './config/settings.ts';
import type { OpenSockets } from './servers.ts';

export interface Shown {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly calls: CallTimelines;
  readonly refused: RefusedOrganizations;
  readonly console: ConsoleSource;
}

export interface OperationsParts {
  readonly shown: Shown;
  /** WebSocket calls that share the port of the operations server. */
  readonly sockets: OpenSockets | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where the build leaves the page of the console. */
export function consoleFolder(): string {
  return path.join(packageRoot(), 'dist', 'console');
}

/** Starts it. @throws AppError `listen_failed`. */
export async function startOperations(settings: Settings, { shown, sockets, clock, log }: OperationsParts): Promise<OpsServer> {
  const [{ startOpsServer }, { pageFiles }] = await Promise.all([import('../ops/http-server.ts'), import('../ops/page-files.ts')]);
  const { readiness, metrics, calls, refused, console: source } = shown;
  const isShared = sockets !== undefined && sockets.own === undefined;
  return startOpsServer({
    ...settings.ops,
    ...(isShared && { upgrades: { take: sockets.server.upgrade, maxConnections: settings.websocket.maxConnections } }),
    ...{ readiness, metrics, clock, log, shows: { source, files: pageFiles(consoleFolder()) } },
    calls: {
      recent: () => ({ calls: calls.recent(), refused: refused.most }),
      find: (conversationId) => calls.find(conversationId),
    },
  });
}
