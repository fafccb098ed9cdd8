// Metrics about the process itself, and whether it is ready. Reasons come from a closed set.
import type { Registry } from 'prom-client';
import { MetricMaker } from './metric-maker.ts';

/** The facts of a process that its metrics show. */
export interface ProcessFacts {
  /** Name of the server, as in its log lines. */
  readonly server: string;
  readonly version: string;
  readonly readiness: { readonly current: { readonly ready: boolean; readonly reasons: readonly string[] } };
  /** Every reason for not being ready. */
  readonly reasons: readonly string[];
}

/** Creates the metrics in a registry. Joined over processes, they say whether any process is ready, and why any process is not. */
export function processMetrics(registry: Registry, self: ProcessFacts | undefined): void {
  const make = new MetricMaker(registry);
  make.gauge('parley_build_info', 'Always 1: the versions, and the process as its log names it.', {
    labels: { version: [], node: [], server: [] },
    aggregator: 'max',
    collect: (gauge) => {
      if (self !== undefined) gauge.set({ version: self.version, node: process.versions.node, server: self.server }, 1);
    },
  });
  make.gauge('parley_ready', 'Whether new calls may come, as /health/ready says: 1 or 0.', {
    aggregator: 'max',
    collect: (gauge) => {
      if (self !== undefined) gauge.set(self.readiness.current.ready ? 1 : 0);
    },
  });
  make.gauge('parley_not_ready', '1 while new calls may not come for this reason, else 0.', {
    labels: { reason: [] },
    aggregator: 'max',
    collect: (gauge) => {
      if (self === undefined) return;
      const { reasons } = self.readiness.current;
      for (const reason of self.reasons) gauge.set({ reason }, reasons.includes(reason) ? 1 : 0);
    },
  });
}
