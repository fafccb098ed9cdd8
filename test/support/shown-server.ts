// A server that is well, as the console shows it.
import type { ShownServer } from '../../src/ops/console-api.ts';

export function shownServer(changes: Partial<ShownServer> = {}): ShownServer {
  return {
    ...{ id: 'one', version: '1.0.0', startedAtMs: 0, address: '127.0.0.1:8086', isReady: true, reasons: [], openCalls: 1, maxCalls: 100 },
    ...{ openTurns: 1, loopDelayMs: 2, rssBytes: 1e8, heapPercent: 20 },
    ...changes,
  };
}
