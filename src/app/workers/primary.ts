// The process that takes no calls itself: starts the workers that do, and shows to operators what they are together. It has
// the one operations server, and neither bots nor the administration.
import { startOpsServer } from '../../ops/http-server.ts';
import { joinedRefusals } from '../../telemetry/refused-organizations.ts';
import { WorkersMetrics } from '../../telemetry/workers-metrics.ts';
import type { ReadySummary } from '../ready-summary.ts';
import type { Settings } from '../config/settings.ts';
import { Workers, type WorkersOptions } from './workers.ts';

/** A running server of several processes. */
export interface Primary {
  readonly ready: ReadySummary & { readonly workers: number };
  /** Has every worker read anew what may change; calls go on. */
  reload(): void;
  /** Lets every worker finish its calls within its limits, then closes everything. Idempotent; never throws. */
  close(): Promise<void>;
}

/**
 * Starts the workers, and resolves when all of them take calls; `signal` gives the start up. Processes can share what is set.
 *
 * @throws AppError `listen_failed` for the operations server, and what {@link Workers.start} throws.
 */
export async function startPrimary(settings: Settings, options: Omit<WorkersOptions, 'metrics'>, signal: AbortSignal): Promise<Primary> {
  const metrics = new WorkersMetrics(() => workers.counts);
  const workers: Workers = new Workers({ ...options, metrics });
  const ops = await startOpsServer({
    ...options,
    ...settings.ops,
    readiness: workers,
    metrics: { contentType: metrics.contentType, text: () => workers.ask('metrics').then(() => metrics.text()) },
    calls: {
      recent: async () => {
        const answers = await workers.ask('calls');
        const calls = answers.flatMap((answer) => answer.calls ?? []).sort((one, other) => other.startedAtMs - one.startedAtMs);
        const refused = joinedRefusals(answers.map((answer) => answer.refused ?? []));
        return { calls: calls.slice(0, settings.telemetry.timelineCalls), refused };
      },
      find: async (conversationId) => {
        const calls = (await workers.ask({ conversationId })).flatMap(({ call }) => call ?? []);
        // A worker that is renewed also remembers the calls that went on in another one.
        return calls.find(({ end }) => end !== 'moved') ?? calls[0];
      },
    },
  });
  const close = (): Promise<void> => workers.stop().then(() => ops.close());
  try {
    const ready = await workers.start(signal);
    return { ready: { ...ready, opsPort: ops.port, workers: options.size }, reload: workers.reload.bind(workers), close };
  } catch (error) {
    await close();
    throw error;
  }
}
