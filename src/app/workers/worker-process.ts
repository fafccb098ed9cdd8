// What the crew needs of a process that takes calls, whatever starts it.
import type { FromWorker, ToWorker } from './messages.ts';

/** How a process ended. */
export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** One that was started. */
export interface WorkerProcess {
  /** Grows from start to start; a name that stands in the log. */
  readonly id: number;
  /** Undefined: it could not even be started, and its end is told. */
  readonly pid: number | undefined;
  /** Does nothing when it is gone. */
  send(message: ToWorker): void;
  /** Asks it to finish its calls and end. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
}

/** Whom a process reports to. Nothing is reported before it has been started. */
export interface WorkerEvents {
  readonly onMessage: (message: FromWorker) => void;
  /** Exactly once, and nothing after it. */
  readonly onExit: (exit: WorkerExit) => void;
}

/** Starts one. */
export type StartWorker = (events: WorkerEvents) => WorkerProcess;

/** The other end: what a worker sees of the process that started it. */
export interface PrimaryLink {
  /** Of this worker. */
  readonly id: number;
  /** Resolves when the message is on its way, also when nobody is there any more. */
  send(message: FromWorker): Promise<void>;
  onMessage(listener: (message: ToWorker) => void): void;
  /** Calls it when the other process is gone; this one then decides itself when it ends. */
  onLost(listener: () => void): void;
  /** Lets go of the other process: it no longer keeps this one alive. */
  leave(): void;
}
