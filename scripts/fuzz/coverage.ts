// Which parts of our source have run in this process: an input that runs a new one is worth keeping.
import { Session, type Profiler } from 'node:inspector';

/** Counts blocks of our modules from its opening on. Call `close`. */
export class Coverage {
  readonly #session = new Session();
  /** By module: 1 for each character that has run. */
  readonly #seen = new Map<string, Uint8Array>();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /**
   * How much ran since the last call that had never run before.
   *
   * @param isKept - whether it counts as seen from now on.
   */
  fresh(isKept: boolean): number {
    let fresh = 0;
    for (const { url, functions } of this.#taken()) {
      // The callers beside it belong to the fake platform.
      if (!/\/src\/(?!fake-platform\/).*\.ts$/u.test(url)) continue;
      const now = painted(functions);
      const known = this.#seen.get(url);
      const seen = new Uint8Array(Math.max(now.length, known?.length ?? 0));
      if (known !== undefined) seen.set(known);
      for (let at = 0; at < now.length; at += 1) {
        if (now[at] !== 1 || seen[at] === 1) continue;
        fresh += 1;
        seen[at] = 1;
      }
      if (isKept) this.#seen.set(url, seen);
    }
    return fresh;
  }

  close(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** The session answers at once. */
  #taken(): readonly Profiler.ScriptCoverage[] {
    let result: readonly Profiler.ScriptCoverage[] = [];
    this.#session.post('Profiler.takePreciseCoverage', (_error, taken) => {
      result = taken.result;
    });
    return result;
  }
}

/** Inner blocks and functions follow the outer ones and have the last word. */
function painted(functions: readonly Profiler.FunctionCoverage[]): Uint8Array {
  const ranges = functions.flatMap((each) => each.ranges);
  const now = new Uint8Array(ranges.reduce((most, { endOffset }) => Math.max(most, endOffset), 0));
  for (const { startOffset, endOffset, count } of ranges) now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return now;
}
