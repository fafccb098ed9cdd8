// What the processes of one server say to each other. Both ends are the same program, so a message needs no examination
// beyond being one of ours: Node itself and libraries use the same channel.
import type { ErrorCode, ErrorDetails } from '../../base/errors.ts';
import type { ReadinessState } from '../../ops/readiness.ts';
import type { CallSummary, CallTimeline } from '../../telemetry/call-timeline.ts';
import type { MetricReading } from '../../telemetry/metrics.ts';
import type { RefusedCalls } from '../../telemetry/refused-organizations.ts';
import type { ReadySummary } from '../app.ts';

/** What a worker says of itself once a second. */
export interface WorkerState {
  readonly readiness: ReadinessState;
  readonly openSessions: number;
  readonly openTurns: number;
}

/** Why a worker could not start. */
export interface StartFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
}

/** What may be asked of every worker. */
export type Question =
  { readonly kind: 'metrics' } | { readonly kind: 'calls' } | { readonly kind: 'call'; readonly conversationId: string };

/** What a worker says to it. */
export type Answer =
  | { readonly kind: 'metrics'; readonly reading: MetricReading }
  | { readonly kind: 'calls'; readonly calls: readonly CallSummary[]; readonly refused: readonly RefusedCalls[] }
  /** Undefined: it remembers no such call. */
  | { readonly kind: 'call'; readonly call: CallTimeline | undefined };

/** From the process that started the workers. */
export type ToWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  /** Others take calls: take no more connections, and finish what is open. */
  | { readonly kind: 'step_aside' }
  /** Read anew what may change; calls go on. */
  | { readonly kind: 'reload' };

/** From a worker. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly ready: ReadySummary; readonly state: WorkerState }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'state'; readonly state: WorkerState }
  /** Undefined: it could not be answered. */
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer | undefined };

/** A message as it travels. */
export interface Sent<Message> {
  readonly parley: Message;
}

/** What a worker said; undefined for what somebody else said over the same channel. */
export function fromWorker(sent: unknown): FromWorker | undefined {
  return isOurs(sent) ? (sent as Sent<FromWorker>).parley : undefined;
}

/** What a worker is told; undefined for what somebody else said over the same channel. */
export function toWorker(sent: unknown): ToWorker | undefined {
  return isOurs(sent) ? (sent as Sent<ToWorker>).parley : undefined;
}

// Only the other end writes this name, and it writes what its type says.
function isOurs(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'parley' in sent;
}
