// How far a run of tests is, on the standard error: a bar on a terminal, else a line now and then.
import { SingleBar } from 'cli-progress';
import type { Clock } from '../../base/clock.ts';
import type { RunProgress } from '../../fake-platform/scenario/run.ts';

/** Shows progress. `end` must be called. */
export interface ProgressView {
  show(progress: RunProgress): void;
  end(): void;
}

/** Pause between two lines where there is no terminal, ms. */
const LINE_EVERY_MS = 10_000;

/** A bar that is gone at the end. */
export function progressBar(stream: NodeJS.WriteStream): ProgressView {
  const bar = new SingleBar({
    format: '{bar}  {value} of {total} tests, {failed} failed, {running} calls now',
    stream,
    clearOnComplete: true,
    hideCursor: null,
    // Drawn when something changes; a timer of its own would outlive an exception.
    noTTYOutput: false,
    fps: 20,
  });
  let isStarted = false;
  return {
    show: ({ done, total, failed, running }) => {
      if (!isStarted) bar.start(total, done, { failed, running });
      isStarted = true;
      bar.update(done, { failed, running });
    },
    end: () => {
      if (isStarted) bar.stop();
      isStarted = false;
    },
  };
}

/** Lines now and then. */
export function progressLines(clock: Clock, complain: (line: string) => void): ProgressView {
  let lastMs = clock.monotonicMs();
  return {
    show: ({ done, total, failed, running }) => {
      if (clock.monotonicMs() - lastMs < LINE_EVERY_MS) return;
      lastMs = clock.monotonicMs();
      complain(`${String(done)} of ${String(total)} tests, ${String(failed)} failed, ${String(running)} calls now`);
    },
    end: () => undefined,
  };
}
