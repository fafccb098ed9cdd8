// Files that are replaced under somebody who looks at them: written in place, or swapped as Kubernetes swaps a mounted secret,
// where links lead through a folder whose own link is replaced in one step.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { CHECK_MS, type WatchedFiles } from '../../src/base/watched-files.ts';
import type { FakeClock } from './fake-clock.ts';
import { within } from './until.ts';

/** A folder that is gone when the test ends. */
export class WatchedFolder {
  readonly path = mkdtempSync(path.join(tmpdir(), 'parley-watched-'));
  #swaps = 0;

  constructor() {
    onTestFinished(() => {
      rmSync(this.path, { recursive: true, force: true });
    });
  }

  /** Where a file of that name is found. */
  file(name: string): string {
    return path.join(this.path, name);
  }

  write(name: string, content: string): string {
    writeFileSync(this.file(name), content);
    return this.file(name);
  }

  /** Puts all files in their places at once; each of them always has the same time. */
  swap(contents: Readonly<Record<string, string>>): void {
    this.#swaps += 1;
    const folder = `..${String(this.#swaps)}`;
    mkdirSync(this.file(folder));
    for (const [name, content] of Object.entries(contents)) {
      writeFileSync(this.file(path.join(folder, name)), content);
      utimesSync(this.file(path.join(folder, name)), 1000, 1000);
      if (this.#swaps === 1) symlinkSync(path.join('..data', name), this.file(name));
    }
    symlinkSync(folder, this.file('..new'));
    renameSync(this.file('..new'), this.file('..data'));
  }
}

/** Lets files be looked at so often. */
export async function look<What extends string>(files: WatchedFiles<What>, clock: FakeClock, times = 1): Promise<void> {
  for (let done = 0; done < times; done++) {
    clock.advance(CHECK_MS);
    await within('the poll is over', files.polled());
  }
}
