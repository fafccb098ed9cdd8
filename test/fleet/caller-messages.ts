// What is said between the one who orders callers and the process that holds their calls.
import type { HeardCall } from './heard-call.ts';

/** How to reach a fleet and who to be. */
export interface FleetAccess {
  /** `grpcs://localhost:PORT`, or `wss://…`. */
  readonly target: string;
  /** PEM text; empty: without TLS. */
  readonly certificatePem: string;
  readonly token: string;
  readonly organizationId: string;
}

/** What callers do. */
export interface CallersWish {
  readonly access: FleetAccess;
  /** So many callers place one call after the other. */
  readonly callers?: number;
  /** In place of them: calls that begin a second, whatever became of those before. */
  readonly callsPerSecond?: number;
  /** Inputs of a call before its goodbye. */
  readonly inputs: number;
  /** What is said, spoken: base64 of µ-law, 8 kHz; without any, callers press keys alone. */
  readonly phrases: readonly string[];
  /** Whether turns that were lost are said again. */
  readonly repeatsLostTurns: boolean;
  /** Time over which the first callers begin, ms. */
  readonly spreadMs: number;
  readonly seed: number;
}

/** To the process. */
export type CallersOrder =
  | { readonly kind: 'begin'; readonly wish: CallersWish }
  /** No new calls; those that run go on to their end, for so long. */
  | { readonly kind: 'end'; readonly withinMs: number };

/** From the process. */
export type CallersReport =
  /** `beganAtMs`: since the epoch. */
  | { readonly kind: 'call'; readonly call: HeardCall; readonly beganAtMs: number }
  /** Once a second: calls that run, and how late the worst timer of that second was. */
  | { readonly kind: 'pulse'; readonly running: number; readonly lateMs: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };
