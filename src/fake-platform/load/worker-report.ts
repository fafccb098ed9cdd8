// How a worker of a load sends reports to its parent process.
import type { WorkerReport } from './worker-messages.ts';

const LONGEST_REASON = 2048;

/** Sends a report, which is lost when the other process has ended. */
export function report(what: WorkerReport, onSent: () => void = () => undefined): void {
  if (process.send === undefined) onSent();
  else process.send(what, onSent);
}

/** Reports that this worker cannot continue, and where it failed. */
export function fail(thrown: unknown, onSent?: () => void): void {
  const why = thrown instanceof Error ? (thrown.stack ?? thrown.message) : 'it threw something that is no error';
  report({ kind: 'failed', message: why.slice(0, LONGEST_REASON) }, onSent);
}
