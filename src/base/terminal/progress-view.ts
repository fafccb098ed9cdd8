// How far a long command is, on the standard error: a bar on a terminal, else a line now and then. Knows no command.
import { Presets, SingleBar } from 'cli-progress';
import type { CommandSurroundings } from './surroundings.ts';

/** Shows progress. `stop` must be called. */
export interface ProgressView {
  /** @param text - what stands beside the bar: counts and figures of the moment. */
  show(done: number, total: number, text: string): void;
  /** Writes a line that stays. */
  say(line: string): void;
  stop(): void;
}

/** Time between two plain lines, ms. */
const LINE_EVERY_MS = 10_000;

/** Where progress is shown. */
export interface ProgressSurroundings extends Pick<CommandSurroundings, 'clock' | 'complain'> {
  /** A terminal; undefined where there is none. */
  readonly progress?: NodeJS.WritableStream | undefined;
}

/**
 * On a terminal a bar, which is removed at the end; without a terminal, lines.
 *
 * @param amount - how `done` and `total` are written; default the numbers.
 */
export function progressView(
  { progress, clock, complain }: ProgressSurroundings,
  amount: (value: number) => string = String,
): ProgressView {
  return progress === undefined ? plainLines(clock, complain, amount) : new Bar(progress, complain, amount);
}

function plainLines(
  clock: CommandSurroundings['clock'],
  complain: (line: string) => void,
  amount: (value: number) => string,
): ProgressView {
  let nextMs = clock.monotonicMs() + LINE_EVERY_MS;
  return {
    show: (done, total, text) => {
      if (clock.monotonicMs() < nextMs) return;
      nextMs = clock.monotonicMs() + LINE_EVERY_MS;
      complain(`${amount(done)} of ${amount(total)} ${text}`);
    },
    say: complain,
    stop: () => undefined,
  };
}

class Bar implements ProgressView {
  readonly #bar: SingleBar;
  readonly #complain: (line: string) => void;
  readonly #amount: (value: number) => string;
  #shown: readonly [done: number, total: number, text: string] | undefined;

  constructor(stream: NodeJS.WritableStream, complain: (line: string) => void, amount: (value: number) => string) {
    this.#complain = complain;
    this.#amount = amount;
    const format = '{bar} {at} of {whole} {text}';
    this.#bar = new SingleBar({ format, stream, barsize: 16, hideCursor: true, clearOnComplete: true }, Presets.shades_classic);
  }

  show(done: number, total: number, text: string): void {
    const payload = { at: this.#amount(done), whole: this.#amount(total), text };
    if (this.#shown === undefined) this.#bar.start(total, done, payload);
    else this.#bar.update(done, payload);
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
