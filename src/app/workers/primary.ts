// The process that takes no calls itself: starts the workers that do, and shows to operators what they are together. It has
// the one operations server, and neither bots nor the administration.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createCrewMetrics, type CrewMetrics } from '../../telemetry/crew-metrics.ts';
import { JoinedMetrics } from '../../telemetry/joined-metrics.ts';
import { joinedCall, joinedCalls } from '../../telemetry/joined-timelines.ts';
import { joinedRefusals } from '../../telemetry/refused-organizations.ts';
import { startOpsServer, type OpsOptions } from '../../ops/http-server.ts';
import type { ReadySummary } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { Crew } from './crew.ts';
import type { StartWorker } from './worker-process.ts';

/** What it is made of. */
export interface PrimaryOptions {
  readonly settings: Settings;
  /** How many workers; more than one. */
  readonly workers: number;
  readonly startWorker: StartWorker;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives the start up. */
  readonly signal: AbortSignal;
  /** Workers end again and again, and none takes calls. Whoever hears it closes the server. */
  readonly onHopeless: () => void;
}

/** A running server of several processes. */
export interface Primary {
  readonly ready: ReadySummary & { readonly workers: number };
  /** Sessions and turns of all workers, as they said within the last second. */
  readonly openSessions: () => number;
  readonly openTurns: () => number;
  /** Has every worker read anew what may change; calls go on. */
  readonly reload: () => void;
  /** Lets every worker finish its calls within its limits, then closes everything. Idempotent; never throws. */
  close(): Promise<void>;
}

/** The one that the process reports as its own among those of the workers, which count from 1. */
const PRIMARY = 0;

/**
 * Starts the workers, and resolves when all of them take calls.
 *
 * @throws AppError `config_invalid` for settings that several processes cannot share, before anything is opened; `listen_failed`
 *   for the operations server; `shutting_down` when `signal` aborts; else what a worker could not start for.
 */
export async function startPrimary(options: PrimaryOptions): Promise<Primary> {
  const { settings, workers, startWorker, clock, log, signal, onHopeless } = options;
  demandShared(settings, workers);
  const joined = new JoinedMetrics();
  const counted = createCrewMetrics(() => crew.counts);
  const crew: Crew = new Crew({
    ...{ size: workers, startWorker, clock, log, onHopeless },
    stopLimitMs: stopLimitMs(settings),
    onGone: (worker, isExpected) => {
      joined.gone(worker);
      if (!isExpected) counted.workerEnded();
    },
  });
  const ops = await startOpsServer({ ...settings.ops, ...shownOf(crew, joined, counted, settings), clock, log });
  const close = async (): Promise<void> => {
    await crew.stop();
    await ops.close();
  };
  try {
    const ready = await crew.start(signal);
    let closing: Promise<void> | undefined;
    return {
      ready: { ...ready, opsPort: ops.port, workers },
      openSessions: () => crew.openSessions,
      openTurns: () => crew.openTurns,
      reload: () => {
        crew.reload();
      },
      close: () => (closing ??= close()),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the operations server shows of all of them. */
function shownOf(
  crew: Crew,
  joined: JoinedMetrics,
  counted: CrewMetrics,
  { telemetry }: Settings,
): Pick<OpsOptions, 'readiness' | 'metrics' | 'calls'> {
  return {
    readiness: {
      get current() {
        return crew.readiness;
      },
    },
    metrics: {
      contentType: counted.contentType,
      text: async () => {
        const [own, answers] = await Promise.all([counted.reading(), crew.ask({ kind: 'metrics' })]);
        joined.read(PRIMARY, own);
        for (const [worker, answer] of answers) {
          // One that has ended since it answered would be counted twice, and what was open in it would stay open for ever.
          if (answer.kind === 'metrics' && crew.has(worker)) joined.read(worker, answer.reading);
        }
        return joined.text();
      },
    },
    calls: {
      recent: async () => {
        const answers = [...(await crew.ask({ kind: 'calls' })).values()].filter((answer) => answer.kind === 'calls');
        const calls = answers.map((answer) => answer.calls);
        return { calls: joinedCalls(calls, telemetry.timelineCalls), refused: joinedRefusals(answers.map(({ refused }) => refused)) };
      },
      find: async (conversationId) => {
        const answers = [...(await crew.ask({ kind: 'call', conversationId })).values()];
        return joinedCall(answers.flatMap((answer) => (answer.kind === 'call' && answer.call !== undefined ? [answer.call] : [])));
      },
    },
  };
}

/** What several processes need that one does not. @throws AppError `config_invalid`. */
function demandShared({ store, websocket }: Settings, workers: number): void {
  const asked = `--workers ${String(workers)}`;
  if (store.kind === 'memory') {
    const why = 'with store.kind memory each worker would know its own calls only, and a call may come to another one with each turn';
    throw new AppError(
      'config_invalid',
      `${asked} needs a store that the workers share: ${why}; set store.kind to redis, or leave --workers out`,
    );
  }
  if (websocket.enabled && websocket.listen === 'ops') {
    const why = 'the operations port belongs to the process that starts the workers, and calls come to the workers';
    throw new AppError('config_invalid', `${asked} does not go with websocket.listen ops: ${why}; set websocket.listen to own`);
  }
}

/** Longest stop of a worker, ms: what closing takes at most (docs/operations.md), and a second. Workers always share their store. */
function stopLimitMs({ shutdown, admin, websocket }: Settings): number {
  const turnsMs = shutdown.graceMs + 7000;
  const withAdminMs = admin.enabled ? Math.max(turnsMs, 25_000) : turnsMs;
  const socketsMs = websocket.enabled ? websocket.drainMs + 6000 : 0;
  return shutdown.noticeMs + withAdminMs + socketsMs + 1000;
}
