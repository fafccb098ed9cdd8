// The messages between the processes of one server. Sender and receiver run the same program.
import type { ErrorCode, ErrorDetails } from '../../base/errors.ts';
import type { ReadinessState } from '../../ops/readiness.ts';
import type { Answer, Question } from '../console/questions.ts';
import type { Command, ProcessReport } from '../control/commands.ts';
import type { ReadySummary } from '../ready-summary.ts';

/** `all_stop`: all workers will get the SIGTERM that follows. */
export type ToWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | { readonly kind: 'command'; readonly id: number; readonly command: Command }
  | { readonly kind: 'all_stop' };

/** `state`: sent once a second while the worker takes calls. `failed`: the worker could not start. */
export type FromWorker =
  | { readonly kind: 'state'; readonly ready: ReadySummary; readonly readiness: ReadinessState }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: WorkerAnswer };

/** A worker's answer to a question or a command. */
export interface WorkerAnswer extends Answer {
  readonly controlled?: ProcessReport;
}

/** The envelope of a message: bots and libraries may use the same channel. */
export interface Sent<Message> {
  readonly parley: Message;
}

/** Whether a message has our envelope. */
export function isSent<Message>(sent: unknown): sent is Sent<Message> {
  return typeof sent === 'object' && sent !== null && 'parley' in sent;
}
