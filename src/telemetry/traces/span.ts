// A finished span of a trace. Knows no package of OpenTelemetry.
import { createHash, randomUUID } from 'node:crypto';
import { callId, type CallFacts, type CallKey } from '../../dialog/call.ts';

/** Times are ms since the epoch, with fractions. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Undefined for the first span of a trace. */
  readonly parentId?: string;
  readonly name: string;
  /** Default: work inside the process. */
  readonly kind?: 'server' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly events?: readonly { readonly name: string; readonly atMs: number }[];
  /** Set when the work failed: the error code. */
  readonly failure?: string | undefined;
}

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;
/** Number of hex digits of a trace id that sampling uses. */
const SHARE_DIGITS = 8;

/** The trace of a conversation: the same on every server. */
export function traceIdOf(call: CallKey): string {
  return digest(callId(call)).slice(0, TRACE_ID_DIGITS);
}

/** The span id of a call, the same at every home. Differs between calls of one conversation, which may be given to bots several times. */
export function callSpanIdOf(call: CallFacts): string {
  return digest(`${callId(call)}${String(call.startedAtMs)}`).slice(0, SPAN_ID_DIGITS);
}

/** A new span id. */
export function newSpanId(): string {
  // Faster than random bytes, which cost four times as much.
  return randomUUID().replaceAll('-', '').slice(-SPAN_ID_DIGITS);
}

/** Whether sampling keeps a trace. @param share - of all traces, from 0 to 1. */
export function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(0, SHARE_DIGITS), 16) < share * 16 ** SHARE_DIGITS;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
