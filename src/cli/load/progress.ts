// How a load stands, while it runs: a bar on a terminal, a plain line now and then elsewhere. Writes to stderr only.
import { Presets, SingleBar } from 'cli-progress';
import type { LoadProgress } from '../../fake-platform/load/load-run.ts';

/** Shows progress. `stop` must be called. */
export interface ProgressView {
  show(progress: LoadProgress): void;
  stop(): void;
}

/** Between two plain lines, ms. */
const LINE_MS = 10_000;

/**
 * @param terminal - undefined where there is none.
 * @param complain - writes a line to stderr.
 */
export function progressView(terminal: NodeJS.WritableStream | undefined, complain: (line: string) => void): ProgressView {
  return terminal === undefined ? plainLines(complain) : new Bar(terminal);
}

function plainLines(complain: (line: string) => void): ProgressView {
  let nextMs = LINE_MS;
  let lastMs = 0;
  return {
    show: (progress) => {
      // Each try of a search begins anew.
      if (progress.elapsedMs < lastMs) nextMs = LINE_MS;
      lastMs = progress.elapsedMs;
      if (progress.elapsedMs < nextMs) return;
      nextMs = progress.elapsedMs + LINE_MS;
      complain(`${clockText(progress.elapsedMs)} of ${clockText(progress.lengthMs)}  ${progressText(progress)}`);
    },
    stop: () => undefined,
  };
}

class Bar implements ProgressView {
  readonly #bar: SingleBar;
  #isShown = false;

  constructor(stream: NodeJS.WritableStream) {
    const format = '{bar} {at} of {length}  {text}';
    const look = { format, stream, barsize: 16, hideCursor: true, clearOnComplete: true, stopOnComplete: false };
    this.#bar = new SingleBar(look, Presets.shades_classic);
  }

  show(progress: LoadProgress): void {
    const { elapsedMs, lengthMs } = progress;
    const payload = { at: clockText(elapsedMs), length: clockText(lengthMs), text: progressText(progress) };
    const value = Math.min(lengthMs, Math.max(0, elapsedMs));
    if (this.#isShown) this.#bar.update(value, payload);
    else this.#bar.start(lengthMs, value, payload);
    this.#isShown = true;
  }

  stop(): void {
    if (this.#isShown) this.#bar.stop();
    this.#isShown = false;
  }
}

/** The figures of the moment. */
function progressText({ live, perSecond, finished, failed, firstAudio, reply }: LoadProgress): string {
  const times = (name: string, { count, p50, p99 }: { count: number; p50: number; p99: number }): string =>
    count === 0 ? '' : `${name} ${p50.toFixed(0)}/${p99.toFixed(0)} ms`;
  return [
    `live ${String(live)}`,
    `${perSecond.toFixed(1)}/s`,
    `over ${String(finished)}`,
    `failed ${String(failed)}`,
    times('first audio p50/p99', firstAudio.percentiles),
    times('reply', reply.percentiles),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

/** A time as minutes and seconds. */
function clockText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`;
}
