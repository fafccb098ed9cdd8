// A small chart over the last hour: bars or lines of some series, with its largest value and what it says in words.
import { useState } from 'preact/hooks';

const [WIDTH, HEIGHT] = [600, 96];

export interface Series {
  readonly name: string;
  /** Of each slot, the oldest first; undefined: nothing is known. */
  readonly values: readonly (number | undefined)[];
  readonly tone: 'main' | 'second' | 'bad';
}

interface ChartProps {
  readonly title: string;
  readonly kind: 'bars' | 'lines';
  readonly series: readonly Series[];
  /** Begin of each slot, ms since the epoch. */
  readonly times: readonly number[];
  readonly shown: (value: number) => string;
}

export function Chart({ title, kind, series, times, shown }: ChartProps) {
  const [at, setAt] = useState<number>();
  const stacked = (slot: number): number => series.reduce((sum, { values }) => sum + (values[slot] ?? 0), 0);
  const largest = Math.max(
    ...(kind === 'bars' ? times.map((_, slot) => stacked(slot)) : series.flatMap(({ values }) => values.map((value) => value ?? 0))),
    0,
  );
  const scale = largest === 0 ? 0 : HEIGHT / largest;
  const step = WIDTH / times.length;
  const summary = series
    .map(({ name, values }) => `${name} ${shown(Math.max(0, ...values.map((value) => value ?? 0)))} at most`)
    .join(', ');
  const time = at === undefined ? undefined : times[at];
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <ul>
          {series.map(({ name, tone, values }) => (
            <li key={name}>
              <span class={`key ${tone}`} />
              {name}
              {at !== undefined && <b> {values[at] === undefined ? '–' : shown(values[at])}</b>}
            </li>
          ))}
        </ul>
      </figcaption>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, last hour: ${summary}`}
        onPointerMove={(event) => setAt(slotAt(event, times.length))}
        onPointerLeave={() => setAt(undefined)}
      >
        {[0.5, 1].map((part) => (
          <line key={part} class="grid" x1="0" x2={WIDTH} y1={HEIGHT * (1 - part) + 0.5} y2={HEIGHT * (1 - part) + 0.5} />
        ))}
        {kind === 'bars'
          ? series.map(({ name, tone }, index) => (
              <path key={name} class={`bars ${tone}`} d={barsOf(series.slice(0, index + 1), step, scale)} />
            ))
          : series.map(({ name, tone, values }) => <path key={name} class={`line ${tone}`} d={lineOf(values, step, scale)} />)}
        {at !== undefined && <line class="cursor" x1={(at + 0.5) * step} x2={(at + 0.5) * step} y1="0" y2={HEIGHT} />}
      </svg>
      <div class="axis soft" aria-hidden="true">
        <span>an hour ago</span>
        <span>{time === undefined ? `at most ${shown(largest)}` : new Date(time).toLocaleTimeString()}</span>
        <span>now</span>
      </div>
    </figure>
  );
}

/** The bars of the last series, which stand on those of the ones before. */
function barsOf(series: readonly Series[], step: number, scale: number): string {
  const [top, ...below] = series.toReversed();
  return (top?.values ?? [])
    .map((value, slot) => {
      if (value === undefined || value === 0) return '';
      const from = HEIGHT - scale * below.reduce((sum, { values }) => sum + (values[slot] ?? 0), 0);
      return `M${shortOf(slot * step + 0.5)} ${shortOf(from)}h${shortOf(step - 1)}v${shortOf(-scale * value)}h${shortOf(1 - step)}z`;
    })
    .join('');
}

/** Broken where nothing is known; a value alone is a short dash. */
function lineOf(values: readonly (number | undefined)[], step: number, scale: number): string {
  return values
    .map((value, slot) => {
      if (value === undefined) return '';
      const [x, y] = [shortOf(slot * step), shortOf(HEIGHT - scale * value)];
      return `${values[slot - 1] === undefined ? 'M' : 'L'}${x} ${y}h${shortOf(step)}`;
    })
    .join('');
}

function shortOf(number: number): string {
  return String(Math.round(number * 10) / 10);
}

function slotAt(event: PointerEvent & { readonly currentTarget: Element }, slots: number): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return Math.min(slots - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * slots)));
}
