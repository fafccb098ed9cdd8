// The questions of operators to the processes of a server and to other servers, and their answers: plain JSON.
import { parseJson } from '../../base/json.ts';
import type { CallSearch, CallView, OrganizationCalls } from '../../dialog/call-view.ts';
import type { ShownCallRow, ShownServer, SilentServer } from '../../ops/console-api.ts';
import type { CallSummary, CallTimeline } from '../../telemetry/call-timeline.ts';
import type { WatchedDataSource } from '../../telemetry/admin-metrics.ts';
import type { MetricReading } from '../../telemetry/metrics.ts';
import type { RefusedCalls } from '../../telemetry/refused-organizations.ts';
import type { ServiceReading } from '../../telemetry/service-readings.ts';
import type { TrafficSlot } from '../../telemetry/traffic.ts';

/** Form of questions and answers between servers; another one is not understood. */
const FORM = 1;

/** What the console asks. `view`: a conversation id. */
export type ConsoleQuestion = 'report' | 'organizations' | { readonly search: CallSearch } | { readonly view: string };

/** `metrics`, `calls` and a conversation id: what a primary process asks for its own pages. `everywhere`: of all servers. */
export type Question =
  | 'metrics'
  | 'calls'
  | { readonly conversationId: string }
  | ConsoleQuestion
  | { readonly everywhere: ConsoleQuestion };

/** Empty: none. */
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
  /** Did not answer in time. */
  readonly silent: readonly SilentServer[];
}

/** A question or an answer as text for another server. */
export function sentText(content: ConsoleQuestion | Answer): string {
  return JSON.stringify({ form: FORM, content });
}

/** @returns undefined when another form was sent. */
export function questionIn(text: string): ConsoleQuestion | undefined {
  const sent = parseJson(text);
  return isQuestion(sent) ? sent.content : undefined;
}

/** @returns undefined when another form was sent. */
export function answerIn(text: string): Answer | undefined {
  const sent = parseJson(text);
  return isAnswer(sent) ? sent.content : undefined;
}

// Whoever can send here runs this program, and the form says which version of the types it means.
function isQuestion(sent: unknown): sent is { readonly content: ConsoleQuestion } {
  return isOfThisForm(sent);
}

function isAnswer(sent: unknown): sent is { readonly content: Answer } {
  return isOfThisForm(sent);
}

function isOfThisForm(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'form' in sent && sent.form === FORM;
}
