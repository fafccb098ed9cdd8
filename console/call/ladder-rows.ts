// The rows of the ladder: turns, messages, events and log lines of a call in order of time.
import type { CallView, ShownEvent, ShownLog, ShownMessage, ShownTurn } from '../../src/dialog/call-view.ts';
import { partsInWords } from './answer-parts.ts';
import { inWords, shownMs, shownNumber } from './shown-time.ts';

/** Who takes part, from left to right. */
export const LANES = ['caller', 'platform', 'server', 'bot', 'service'] as const;
export type Lane = (typeof LANES)[number];

/** What rows may be of. */
export const ROW_KINDS = ['turn', 'message', 'event', 'log'] as const;

interface AnyRow {
  /** Its place among all rows of the call. */
  readonly index: number;
  readonly atMs: number;
  readonly turn: number | undefined;
  readonly title: string;
  readonly detail: string;
  readonly isProblem: boolean;
  /** From where it goes; to where, when it goes anywhere. */
  readonly from: Lane;
  readonly to?: Lane;
}
export type Row = AnyRow &
  (
    | { readonly kind: 'turn'; readonly of: ShownTurn }
    | { readonly kind: 'message'; readonly of: ShownMessage }
    | { readonly kind: 'event'; readonly of: ShownEvent }
    | { readonly kind: 'log'; readonly of: ShownLog }
  );
type Unplaced<R> = R extends Row ? Omit<R, 'index'> : never;

/** All rows. A turn stands before what happens at the same time. */
export function rowsOf(view: CallView): readonly Row[] {
  const rows: Unplaced<Row>[] = [
    ...view.turns.map(turnRow),
    ...(view.messages ?? []).map(messageRow),
    ...view.events.map(eventRow),
    ...(view.logs ?? []).map(logRow),
  ];
  return rows.sort((one, other) => one.atMs - other.atMs).map((row, index) => ({ ...row, index }));
}

/** What the caller did in a turn, for people. */
export function inputText({ input, end }: ShownTurn): string {
  if (input === undefined) return end === undefined ? 'no input yet' : inWords(end);
  const kind = inWords(input.kind);
  if (input.isWithheld === true) return `${kind}, withheld`;
  if (input.text === undefined) return kind;
  return input.kind === 'speech' ? `“${input.text}”` : `${kind} ${input.text}`;
}

/** What the caller got for it. */
function replyText({ prompts, next }: ShownTurn): string {
  const said = prompts.map(({ text, isWithheld }) => (isWithheld === true ? '(withheld)' : (text ?? '(sound)'))).join(' ');
  if (next === undefined) return said;
  return `${said} → ${inWords(next.kind)}${next.detail === undefined ? '' : ` ${next.detail}`}`;
}

/** A row as a sentence, for those who hear it. */
export function rowInWords({ kind, title, detail, turn, from, to, of }: Row): string {
  const way = to === undefined ? from : `${from} to ${to}`;
  const answer = kind === 'turn' && of.parts !== undefined ? `, ${partsInWords(of.parts)}` : '';
  const place = kind === 'turn' || turn === undefined ? '' : `, turn ${String(turn)}`;
  return `${kind === 'turn' ? '' : `${kind}, ${way}: `}${title}${detail === '' ? '' : `, ${detail}`}${answer}${place}`;
}

function turnRow(turn: ShownTurn): Unplaced<Row> {
  return {
    ...{ kind: 'turn', of: turn, atMs: turn.atMs, turn: turn.number, from: 'caller' },
    title: `Turn ${String(turn.number)} · ${inputText(turn)}`,
    detail: replyText(turn),
    isProblem: turn.error !== undefined,
  };
}

function messageRow(message: ShownMessage): Unplaced<Row> {
  const { atMs, turn, from, name, detail, bytes, findings = [] } = message;
  const size = bytes === undefined ? [] : [`${shownNumber(bytes)} bytes`];
  const found = findings.map(({ rule, code, message: said }) => `${rule ?? code}: ${said}`);
  return {
    ...{ kind: 'message', of: message, atMs, turn, from, to: from === 'platform' ? 'server' : 'platform', title: name },
    detail: [...found, ...(detail === undefined ? [] : [detail]), ...size].join(' · '),
    isProblem: findings.length > 0,
  };
}

function eventRow(event: ShownEvent): Unplaced<Row> {
  const { atMs, turn, from, detail, ms } = event;
  return {
    ...{ kind: 'event', of: event, atMs, turn, from, title: inWords(event.event) },
    detail: [...(ms === undefined ? [] : [shownMs(ms)]), ...(detail === undefined ? [] : [detail])].join(' · '),
    isProblem: event.event.endsWith('failed'),
  };
}

function logRow(log: ShownLog): Unplaced<Row> {
  const { atMs, turn, level, text } = log;
  const isProblem = level === 'error' || level === 'warn';
  return { kind: 'log', of: log, atMs, turn, from: 'server', title: level, detail: text, isProblem };
}
