// The primary process: starts the workers that take calls, and shows operators their total. Runs the only operations server, but neither
// bots nor the administration.
import { consoleFile } from '../../base/console-files.ts';
import { WatchedFiles } from '../../base/watched-files.ts';
import type { ControlSocket } from '../../ops/control-socket.ts';
import { startOpsServer } from '../../ops/http-server.ts';
import { NOT_READY_REASONS, type Readiness } from '../../ops/readiness.ts';
import type { Watched } from '../../telemetry/file-metrics.ts';
import { joinedRefusals } from '../../telemetry/refused-organizations.ts';
import { WorkersMetrics } from '../../telemetry/workers-metrics.ts';
import { followConsole } from '../changing-secrets.ts';
import type { ChangingSettings } from '../config/changing-settings.ts';
import { consoleSource } from '../console/console-source.ts';
import { openControl } from '../control/open-control.ts';
import type { OwnProcess } from '../control/own-process.ts';
import { processFields } from '../process-parts.ts';
import { openRecordedCalls } from '../recordings.ts';
import type { ReadySummary } from '../ready-summary.ts';
import type { Settings } from '../config/settings.ts';
import { Workers, type WorkersOptions } from './workers.ts';

/** A running server of several processes. */
export interface Primary {
  readonly ready: ReadySummary & { readonly workers: number };
  /** Ready while at least one worker may get new calls. */
  readonly readiness: Pick<Readiness, 'current'>;
  /** Waits until every worker has finished its calls within its limits, then closes everything. Idempotent; never throws. */
  close(): Promise<void>;
}

export interface PrimaryOptions extends Omit<WorkersOptions, 'metrics' | 'log' | 'standing'> {
  /** This process. */
  readonly own: OwnProcess;
  /** See `createApp`. */
  readonly changing?: ChangingSettings | undefined;
}

const NOBODY = { answers: [], silent: [] };

/**
 * Starts the workers. Resolves when all of them take calls; `signal` aborts the start.
 *
 * @throws AppError `listen_failed` for the operations server or the control socket, and what {@link Workers.start} throws.
 */
export async function startPrimary(settings: Settings, given: PrimaryOptions, signal: AbortSignal): Promise<Primary> {
  const { instanceId, log, control } = given.own;
  const options = { ...given, log };
  const readiness: Pick<Readiness, 'current'> = {
    get current() {
      return workers.current;
    },
  };
  const metrics = new WorkersMetrics(() => workers.counts, { ...processFields(instanceId), readiness, reasons: NOT_READY_REASONS });
  const workers: Workers = new Workers({ ...options, metrics, standing: () => control.standing });
  const recorded = openRecordedCalls(settings, options);
  const ops = await startOpsServer({
    ...options,
    ...settings.ops,
    readiness: workers,
    shows: {
      // Ask one worker: it asks the other servers, and to it the other workers are such servers.
      source: consoleSource({
        ...options,
        recorded,
        ask: async (everywhere) => (await workers.askAny({ everywhere }))?.everywhere ?? NOBODY,
      }),
      file: consoleFile,
    },
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
        // When a call has moved between workers, both know it; the last home has the right end.
        return calls.find(({ end }) => end !== 'moved') ?? calls[0];
      },
    },
  });
  const files = new WatchedFiles<Watched>(options);
  if (options.changing !== undefined) followConsole(files, options.changing, ops);
  let socket: ControlSocket | undefined;
  const close = async (): Promise<void> => {
    await workers.stop();
    recorded?.close();
    await files.close();
    await socket?.close();
    control.close();
    await ops.close();
  };
  try {
    socket = await openControl(settings, control, options);
    const starting = workers.start(signal);
    // Before the workers have started, because that may take long and operators want to know why.
    control.serves({
      readiness: workers,
      open: () => ({ calls: 0, turns: 0 }),
      // The workers do this themselves; those that start later get the command then.
      setDrained: () => undefined,
      knows: () => false,
      checkNow: () => files.checkNow(),
      others: (command) => workers.command(command),
    });
    const ready = await starting;
    return { ready: { ...ready, opsPort: ops.port, opsAddress: ops.address, workers: options.size }, readiness: workers, close };
  } catch (error) {
    await close();
    throw error;
  }
}
