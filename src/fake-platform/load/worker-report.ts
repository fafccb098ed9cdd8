// How a worker of a load speaks to the process that started it.
import type { WorkerReport } from './worker-messages.ts';

/** Longest reason that is given, characters. */
const LONGEST_REASON = 2048;

/** Reports something. Nobody gets it once the other process is gone. */
export function report(what: WorkerReport, onSent: () => void = () => undefined): void {
  if (process.send === undefined) onSent();
  else process.send(what, onSent);
}

/** Says that this worker cannot go on, and where it broke. */
export function fail(thrown: unknown, onSent?: () => void): void {
  const why = thrown instanceof Error ? (thrown.stack ?? thrown.message) : 'it threw something that is no error';
  report({ kind: 'failed', message: why.slice(0, LONGEST_REASON) }, onSent);
}
