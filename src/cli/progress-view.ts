// How far a long command is, on the standard error: a bar on a terminal, else a line now and then. Knows no command.
import { Presets, SingleBar } from 'cli-progress';
import type { CallSurroundings } from './call-surroundings.ts';

/** Shows progress. `stop` must be called. */
export interface ProgressView {
  /** @param text - what stands beside the bar: counts and figures of the moment. */
  show(done: number, total: number, text: string): void;
  /** A line that stays. */
  say(line: string): void;
  stop(): void;
}

/** Between two plain lines, ms. */
const LINE_EVERY_MS = 10_000;

/** Where progress is shown. */
export interface ProgressSurroundings extends Pick<CallSurroundings, 'clock' | 'complain'> {
  /** A terminal; undefined where there is none. */
  readonly progress?: NodeJS.WritableStream | undefined;
}

/** A bar where there is a terminal, which is gone at the end, else lines. */
export function progressView({ progress, clock, complain }: ProgressSurroundings): ProgressView {
  return progress === undefined ? plainLines(clock, complain) : new Bar(progress, complain);
}

function plainLines(clock: CallSurroundings['clock'], complain: (line: string) => void): ProgressView {
  let nextMs = clock.monotonicMs() + LINE_EVERY_MS;
  return {
    show: (done, total, text) => {
      if (clock.monotonicMs() < nextMs) return;
      nextMs = clock.monotonicMs() + LINE_EVERY_MS;
      complain(`${String(done)} of ${String(total)} ${text}`);
    },
    say: complain,
    stop: () => undefined,
  };
}

class Bar implements ProgressView {
  readonly #bar: SingleBar;
  readonly #complain: (line: string) => void;
  #shown: readonly [done: number, total: number, text: string] | undefined;

  constructor(stream: NodeJS.WritableStream, complain: (line: string) => void) {
    this.#complain = complain;
    const format = '{bar} {value} of {total} {text}';
    this.#bar = new SingleBar({ format, stream, barsize: 16, hideCursor: true, clearOnComplete: true }, Presets.shades_classic);
  }

  show(done: number, total: number, text: string): void {
    if (this.#shown === undefined) this.#bar.start(total, done, { text });
    else this.#bar.update(done, { text });
    this.#shown = [done, total, text];
  }

  say(line: string): void {
    const shown = this.#shown;
    this.stop();
    this.#complain(line);
    if (shown !== undefined) this.show(...shown);
  }

  stop(): void {
    if (this.#shown !== undefined) this.#bar.stop();
    this.#shown = undefined;
  }
}
