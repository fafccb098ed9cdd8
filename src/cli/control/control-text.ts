// What `parley control` prints for people.
import type { Controlled, ProcessReport } from '../../app/control/commands.ts';
import { alignedRows } from '../../base/terminal/table.ts';
import type { ReadinessState } from '../../ops/readiness.ts';
import { endText, isoTime } from '../admin/time-text.ts';

const HEADINGS = ['PROCESS', 'SERVER', 'VERSION', 'PID', 'SINCE', 'READY', 'CALLS', 'TURNS', 'LOG LEVEL'];
const BLOCKED: readonly string[] = ['drained', 'draining'];

/** Whether a server has carried out a command. @param kind - of the command. */
export function isDone(kind: string, { readiness, processes, silent }: Controlled): boolean {
  if (silent > 0) return false;
  if (kind === 'reload') return processes.every(({ reloaded }) => reloaded?.refused.length === 0);
  if (kind === 'drain') return !readiness.ready;
  return kind !== 'undrain' || !readiness.reasons.some((reason) => BLOCKED.includes(reason));
}

/** The server, its processes, the calls it traces, and the result of a reload. @param nowMs - ms since the epoch. */
export function controlText({ readiness, processes, silent }: Controlled, nowMs: number): string {
  const silence = silent === 0 ? '' : `${String(silent)} of its processes did not answer\n`;
  const table = alignedRows([HEADINGS, ...processes.map((each) => rowOf(each, nowMs))]);
  return `${readyText(readiness)}\n${silence}\n${table}${tracedText(processes, nowMs)}${reloadText(processes)}`;
}

function readyText({ ready, reasons }: ReadinessState): string {
  return ready ? 'ready' : `not ready: ${reasons.join(', ')}`;
}

function rowOf(report: ProcessReport, nowMs: number): readonly string[] {
  const { process, server, version, pid, startedAtMs, readiness, calls, turns, logLevel, logLevelUntilMs } = report;
  const until = logLevelUntilMs === undefined ? '' : ` until ${endText(logLevelUntilMs, nowMs)}`;
  const ready = readiness.ready ? 'yes' : readiness.reasons.join(', ');
  return [process, server, version, String(pid), isoTime(startedAtMs), ready, String(calls), String(turns), `${logLevel}${until}`];
}

function tracedText(processes: readonly ProcessReport[], nowMs: number): string {
  const ends = new Map(processes.flatMap(({ traced }) => traced.map(({ conversationId, untilMs }) => [conversationId, untilMs])));
  const here = new Set(
    processes.flatMap(({ traced }) => traced.filter(({ isHere }) => isHere).map(({ conversationId }) => conversationId)),
  );
  const rows = [...ends].map(([id, untilMs]) => [id, endText(untilMs, nowMs), here.has(id) ? '' : 'no such call here']);
  return rows.length === 0 ? '' : `\n${alignedRows([['TRACED', 'UNTIL', ''], ...rows])}`;
}

function reloadText(processes: readonly ProcessReport[]): string {
  const rows = processes.flatMap(({ process, reloaded }) => {
    if (reloaded === undefined) return [];
    const { taken, refused, needRestart } = reloaded;
    return [
      ...(taken.length + refused.length + needRestart.length === 0 ? [[process, 'nothing has changed']] : []),
      ...taken.map((what) => [process, `${what} is in use`]),
      ...refused.map(({ what, why }) => [process, `${what} stays as it was: ${why}`]),
      ...needRestart.map((what) => [process, `${what} has changed and needs a restart`]),
    ];
  });
  return rows.length === 0 ? '' : `\n${alignedRows(rows)}`;
}
