// Text output for people: a line for each test, and for a failed one what was expected, what was heard, and the whole call
// with the failed turn marked. Texts of servers are on one line and without control characters.
import { createColors } from 'picocolors';
import { oneLine } from '../../base/one-line.ts';
import { recognizerLines, timelineText, callData } from '../caller/result-text.ts';
import type { Reply } from '../caller/turn.ts';
import type { TestResult, TestStatus } from './run.ts';

export function testData({ test, round, status, failures, call, tookMs, recordings }: TestResult): object {
  const { file, line, name } = test;
  return {
    ...{ file, line, name, round, status, failures, tookMs: Math.round(tookMs), recordings },
    ...(call === undefined ? {} : { pace: call.pace, call: callData(call) }),
    ...(call === undefined || status === 'passed' ? {} : { timeline: call.timeline }),
  };
}

export function summaryData(results: readonly TestResult[], durationMs: number): object {
  const count = (status: TestStatus): number => results.filter((result) => result.status === status).length;
  return {
    ok: results.every(({ status }) => status === 'passed'),
    passed: count('passed'),
    failed: count('failed'),
    interrupted: count('interrupted'),
    skipped: count('skipped'),
    durationMs: Math.round(durationMs),
  };
}

/** Most lines printed of one timeline: the last ones. */
const MAX_TIMELINE = 300;
/** Most characters printed of one text of a server. */
const MAX_TEXT = 400;

/** The place of the test, for editors that open what is printed: `file:line`. */
export function testPlace({ test }: Pick<TestResult, 'test'>): string {
  return `${test.file}:${String(test.line)}`;
}

/** The name of the test, with the number of the round from the second round on. */
export function testTitle({ test, round }: Pick<TestResult, 'test' | 'round'>): string {
  return round === 1 ? test.name : `${test.name} (round ${String(round)})`;
}

export function resultLine(result: TestResult, isColoured: boolean): string {
  const colours = createColors(isColoured);
  const paint: Record<TestStatus, (text: string) => string> = {
    passed: colours.green,
    failed: colours.red,
    interrupted: colours.yellow,
    skipped: colours.dim,
  };
  const { call } = result;
  const length = call === undefined ? '' : `${(call.durationMs / 1000).toFixed(1)} s`;
  const slowest = call === undefined ? undefined : slowestReply(call.replies);
  const latency = slowest === undefined ? '' : `, slowest reply ${milliseconds(slowest.latencyMs)}`;
  const words = `${testPlace(result)}  ${shown(testTitle(result))}`;
  return `${paint[result.status](result.status.padEnd(11))}  ${words}  ${colours.dim(`${length}${latency}`)}`.trimEnd();
}

export function failureLines(result: TestResult, isColoured: boolean): readonly string[] {
  const colours = createColors(isColoured);
  const { failures, call, recordings } = result;
  const failed = new Set(failures.flatMap(({ turn }) => turn ?? []));
  return [
    `${colours.red('FAILED')}  ${testPlace(result)}  ${shown(testTitle(result))}`,
    ...failures.flatMap(({ place, expected, found, turn }) => [
      `  ${colours.dim('expected')}  ${shown(place)}: ${shown(expected)}`,
      `  ${colours.dim('found')}     ${colours.red(shown(found))}${turn === undefined || found.includes(`#${String(turn)}`) ? '' : ` (#${String(turn)})`}`,
    ]),
    ...(call === undefined ? [] : [...heardLines(call.replies, failed, isColoured), ...timelineLines(call, failed, isColoured)]),
    ...(call === undefined ? [] : [`  ${colours.dim('conversation')}  ${call.conversationId}`]),
    ...recordings.map((file) => `  ${colours.dim('recording')}     ${file}`),
  ];
}

function heardLines(replies: readonly Reply[], failed: ReadonlySet<number>, isColoured: boolean): readonly string[] {
  const colours = createColors(isColoured);
  return [
    `  ${colours.dim('heard')}`,
    ...replies.map((reply) => {
      const words = reply.texts.length === 0 ? `${(reply.audioMs / 1000).toFixed(1)} s without text` : `"${shown(reply.texts.join(' '))}"`;
      const latency = reply.latencyMs === undefined ? '' : `  +${milliseconds(reply.latencyMs)}`;
      const cut = reply.isInterrupted ? '  interrupted' : '';
      return marked(
        failed.has(reply.turn),
        `${`#${String(reply.turn)}`.padEnd(4)}  ${reply.kind.padEnd(13)}  ${words}${latency}${cut}`,
        isColoured,
      );
    }),
  ];
}

function timelineLines(call: NonNullable<TestResult['call']>, failed: ReadonlySet<number>, isColoured: boolean): readonly string[] {
  const line = timelineText(isColoured);
  const left = Math.max(0, call.timeline.length - MAX_TIMELINE);
  return [
    `  ${createColors(isColoured).dim(left === 0 ? 'timeline' : `timeline, without its first ${String(left)} lines`)}`,
    ...call.timeline.slice(left).map((event) => marked(event.turn !== undefined && failed.has(event.turn), line(event), isColoured)),
  ];
}

function marked(isMarked: boolean, line: string, isColoured: boolean): string {
  return isMarked ? `${createColors(isColoured).red('  >')} ${line}` : `    ${line}`;
}

/** The last lines: how many passed, and the slowest reply with its test and turn. */
export function summaryLines(results: readonly TestResult[], durationMs: number): readonly string[] {
  const count = (status: TestStatus): number => results.filter((result) => result.status === status).length;
  const others = (['interrupted', 'skipped'] as const).flatMap((status) =>
    count(status) === 0 ? [] : [`${String(count(status))} ${status}`],
  );
  const counts = [`${String(count('passed'))} passed`, `${String(count('failed'))} failed`, ...others].join(', ');
  const slowest = results
    .flatMap((result) => {
      const reply = slowestReply(result.call?.replies ?? []);
      return reply === undefined ? [] : [{ result, reply }];
    })
    .sort((one, other) => other.reply.latencyMs - one.reply.latencyMs)[0];
  return [
    `${counts} in ${(durationMs / 1000).toFixed(1)} s`,
    ...(slowest === undefined
      ? []
      : [
          `slowest reply: ${milliseconds(slowest.reply.latencyMs)} to ${slowest.reply.kind} (#${String(slowest.reply.turn)}) in ${testPlace(slowest.result)} ${shown(testTitle(slowest.result))}`,
        ]),
    ...recognizerLines(results.flatMap(({ call }) => call?.timeline ?? [])),
  ];
}

function slowestReply(replies: readonly Reply[]): (Reply & { readonly latencyMs: number }) | undefined {
  return replies
    .flatMap((reply) => (reply.latencyMs === undefined ? [] : [{ ...reply, latencyMs: reply.latencyMs }]))
    .sort((one, other) => other.latencyMs - one.latencyMs)[0];
}

function milliseconds(ms: number): string {
  return `${String(Math.round(ms))} ms`;
}

/** A text of a file or of a server on one line. */
function shown(text: string): string {
  return oneLine(text, MAX_TEXT);
}
