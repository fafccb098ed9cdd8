// The questions that operators ask the processes of a server and other servers, with the answers: plain JSON.
import { parseJson } from '../../base/json.ts';
import type { CallSearch, CallView, OrganizationCalls } from '../../dialog/call-view.ts';
import type { ShownCallRow, ShownServer, SilentServer } from '../../ops/console-api.ts';
import type { CallSummary, CallTimeline } from '../../telemetry/call-timeline.ts';
import type { WatchedDataSource } from '../../telemetry/admin-metrics.ts';
import type { MetricReading } from '../../telemetry/metrics.ts';
import type { RefusedCalls } from '../../telemetry/refused-organizations.ts';
import type { ServiceReading } from '../../telemetry/service-readings.ts';
import type { TrafficSlot } from '../../telemetry/traffic.ts';

/** Version of questions and answers between servers; other versions are not understood. */
const FORM = 1;

/** A question of the console. `view`: a conversation id. */
export type ConsoleQuestion = 'report' | 'organizations' | { readonly search: CallSearch } | { readonly view: string };

/** Also what a primary process asks for its own pages: `metrics`, `calls` and a conversation id. `everywhere`: for all servers. */
export type Question =
  | 'metrics'
  | 'calls'
  | { readonly conversationId: string }
  | ConsoleQuestion
  | { readonly everywhere: ConsoleQuestion };

/** Has only the members that answer the question; none when there is no answer. */
export interface Answer {
  readonly metrics?: MetricReading;
  readonly calls?: readonly CallSummary[];
  readonly refused?: readonly RefusedCalls[];
  readonly call?: CallTimeline | undefined;
  readonly report?: ProcessReport;
  readonly organizations?: readonly OrganizationCalls[];
  readonly found?: readonly ShownCallRow[];
  readonly view?: CallView | undefined;
  readonly everywhere?: Everywhere;
}

/** One process that takes calls. */
export interface ProcessReport {
  readonly server: ShownServer;
  readonly traffic: readonly TrafficSlot[];
  readonly refused: readonly RefusedCalls[];
  readonly dataSources: readonly WatchedDataSource[];
  readonly services: readonly ServiceReading[];
}

/** The answers of all servers. */
export interface Everywhere {
  readonly answers: readonly Answer[];
  /** Servers that did not answer in time. */
  readonly silent: readonly SilentServer[];
}

/** Writes a question or an answer as text for another server. */
export function sentText(content: ConsoleQuestion | Answer): string {
  return JSON.stringify({ form: FORM, content });
}

/** @returns undefined for another version. */
export function questionIn(text: string): ConsoleQuestion | undefined {
  const sent = parseJson(text);
  return isQuestion(sent) ? sent.content : undefined;
}

/** @returns undefined for another version. */
export function answerIn(text: string): Answer | undefined {
  const sent = parseJson(text);
  return isAnswer(sent) ? sent.content : undefined;
}

// Checks no more than the version: only this program sends here, and the version defines the types.
function isQuestion(sent: unknown): sent is { readonly content: ConsoleQuestion } {
  return isOfThisForm(sent);
}

function isAnswer(sent: unknown): sent is { readonly content: Answer } {
  return isOfThisForm(sent);
}

function isOfThisForm(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'form' in sent && sent.form === FORM;
}
