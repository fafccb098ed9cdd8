// One span of a trace, when it is over. Knows no package of OpenTelemetry.
import { createHash, randomUUID } from 'node:crypto';
import { callId, type CallFacts, type CallKey } from '../../dialog/call.ts';

/** Times are ms since the epoch, with fractions. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Undefined: it begins its trace. */
  readonly parentId?: string;
  readonly name: string;
  /** Default: work within the process. */
  readonly kind?: 'server' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly events?: readonly { readonly name: string; readonly atMs: number }[];
  /** The code of its failure. */
  readonly failure?: string | undefined;
}

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;
/** Digits of a trace id that decide about its share. */
const SHARE_DIGITS = 8;

/** The trace of a conversation: the same on every server. */
export function traceIdOf(call: CallKey): string {
  return digest(callId(call)).slice(0, TRACE_ID_DIGITS);
}

/** The span of a call, the same at every home: one conversation may be given to bots several times. */
export function callSpanIdOf(call: CallFacts): string {
  return digest(`${callId(call)}${String(call.startedAtMs)}`).slice(0, SPAN_ID_DIGITS);
}

/** A new span id. */
export function newSpanId(): string {
  // Random bytes by themselves cost four times as much.
  return randomUUID().replaceAll('-', '').slice(-SPAN_ID_DIGITS);
}

/** Whether a trace belongs to this share of all, from 0 to 1. */
export function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(0, SHARE_DIGITS), 16) < share * 16 ** SHARE_DIGITS;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
