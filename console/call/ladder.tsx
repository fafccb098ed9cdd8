// The ladder of a call as a list in which only the rows that are seen exist, so that tens of thousands of them scroll well. One row is
// chosen; keys move the choice.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { answerMs, partsInWords } from './answer-parts.ts';
import { AnswerBar } from './answer-bar.tsx';
import { LANES, rowInWords, type Row } from './ladder-rows.ts';
import { shownMs, shownTime } from './shown-time.ts';
import './ladder.css';

/** Heights of rows, pixels; ladder.css knows them, too. */
const [TURN_HEIGHT, ROW_HEIGHT] = [46, 24];
/** Rows beyond the edges, so that a quick scroll shows no gap. */
const BEYOND = 12;
const STEPS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };

interface LadderProps {
  readonly rows: readonly Row[];
  /** {@link Row.index} of the chosen one. */
  readonly chosen: number | undefined;
  readonly onChoose: (row: Row) => void;
}

export function Ladder({ rows, chosen, onChoose }: LadderProps) {
  const list = useRef<HTMLDivElement>(null);
  /** Then it follows a call that goes on. */
  const isAtEnd = useRef(false);
  const [{ top, height }, setSeen] = useState({ top: 0, height: 600 });
  const tops = useMemo(() => topsOf(rows), [rows]);
  const mostMs = useMemo(
    () => rows.reduce((most, { kind, of }) => Math.max(most, kind === 'turn' && of.parts ? answerMs(of.parts) : 0), 1),
    [rows],
  );
  const at = rows.findIndex(({ index }) => index === chosen);

  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setSeen({ top: element.scrollTop, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    isAtEnd.current = hasEndInSight(element);
  }, [tops]);
  useEffect(() => {
    const element = list.current;
    if (element === null || at === -1) return;
    const [begin = 0, end = 0] = [tops[at], tops[at + 1]];
    if (begin < element.scrollTop) element.scrollTop = begin;
    else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
  }, [at, tops]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined || rows.length === 0) return;
    const row = rows[Math.min(Math.max(0, at + step), rows.length - 1)];
    if (row !== undefined) onChoose(row);
    event.preventDefault();
  };
  const first = Math.max(0, indexAt(tops, top) - BEYOND);
  const last = Math.min(rows.length, indexAt(tops, top + height) + BEYOND);
  return (
    <div class="ladder">
      <div class="lane-names" aria-hidden="true">
        <span />
        <span class="lanes">
          {LANES.map((lane) => (
            <span key={lane}>{lane}</span>
          ))}
        </span>
      </div>
      <div
        ref={list}
        class="rows"
        role="listbox"
        tabIndex={0}
        aria-label="What happened"
        aria-activedescendant={at === -1 || at < first || at >= last ? undefined : `row-${String(chosen)}`}
        onScroll={({ currentTarget }) => {
          isAtEnd.current = hasEndInSight(currentTarget);
          setSeen({ top: currentTarget.scrollTop, height: currentTarget.clientHeight });
        }}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" style={{ height: `${String(tops[rows.length] ?? 0)}px`, paddingTop: `${String(tops[first] ?? 0)}px` }}>
          {rows.slice(first, last).map((row, index) => (
            <div
              key={row.index}
              id={`row-${String(row.index)}`}
              role="option"
              aria-selected={row.index === chosen}
              aria-posinset={first + index + 1}
              aria-setsize={rows.length}
              aria-label={`${shownTime(row.atMs)}, ${rowInWords(row)}`}
              class={`row ${row.kind} ${row.isProblem ? 'problem' : ''}`}
              onClick={() => onChoose(row)}
            >
              <span class="time">{shownTime(row.atMs)}</span>
              {row.kind === 'turn' ? <TurnRow row={row} mostMs={mostMs} /> : <PlainRow row={row} />}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function TurnRow({ row, mostMs }: { readonly row: Row & { readonly kind: 'turn' }; readonly mostMs: number }) {
  const { parts } = row.of;
  return (
    <>
      <span class="row-text">
        <b>{row.title}</b>
        <span class="soft">{row.detail}</span>
      </span>
      {parts !== undefined && (
        <span class="answered" title={partsInWords(parts)}>
          {shownMs(answerMs(parts))}
          <AnswerBar parts={parts} wholeMs={mostMs} />
        </span>
      )}
    </>
  );
}

function PlainRow({ row: { kind, from, to, title, detail } }: { readonly row: Row }) {
  return (
    <>
      <span class={`lanes of-${kind} from-${from} ${to === undefined ? '' : `to-${to}`}`} />
      <span class="row-text">
        <span>{title}</span> <span class="soft">{detail}</span>
      </span>
    </>
  );
}

function hasEndInSight({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean {
  return scrollTop + clientHeight >= scrollHeight - 2;
}

/** Where each row begins, and where the last one ends. */
function topsOf(rows: readonly Row[]): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  for (const [index, { kind }] of rows.entries()) tops[index + 1] = (tops[index] ?? 0) + (kind === 'turn' ? TURN_HEIGHT : ROW_HEIGHT);
  return tops;
}

/** The row at a height. */
function indexAt(tops: Float64Array, height: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}
