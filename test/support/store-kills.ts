// Kills processes while they write to a durable store, again and again, and looks at what they leave: for a test and for
// `npm run check -- store`. Knows nothing of what the store is for.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { DurableStore } from '../../src/store/durable-store.ts';
import { Seal } from '../../src/store/seal.ts';
import { compiled } from './compiled.ts';

/** Processes at a time. */
const AT_ONCE = 3;
/** Largest wait between the first write and the kill, ms: several writes. */
const MAX_WAIT_MS = 60;
/** Kills between two lines of progress. */
const KILLS_BETWEEN_LINES = 50;

// Renews a pair of tokens that must always be of one generation, and says which generations are on disk. Goes on where the
// one before was killed.
const WRITER = `
import { DurableStore } from './src/store/durable-store.js';
import { Seal } from './src/store/seal.js';
const [file, key] = process.argv.slice(2);
const store = await DurableStore.open({ file, seal: new Seal(Buffer.from(key, 'hex')) });
const filler = 'x'.repeat(3000);
const { generation: before } = JSON.parse((await store.get('access')) ?? '{"generation":0}');
for (let generation = before + 1; ; generation += 1) {
  const text = JSON.stringify({ generation, filler });
  await store.apply([{ key: 'access', value: text }, { key: 'refresh', value: text }]);
  process.stdout.write(generation + '\\n');
}
`;

/** A process that writes without end. */
export interface Writer {
  readonly file: string;
  /** The newest generation that it said is on disk. */
  readonly written: () => number;
  /** Resolves when it has said so of another one after it. */
  readonly writtenMoreThan: (generation: number) => Promise<void>;
  /** With SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
}

/** Starts writers, all with one key, in a folder of their own. Whoever opens it closes it. */
export class Writers {
  readonly #folder: string;
  readonly #key = randomBytes(32);
  readonly #running = new Set<ChildProcess>();
  /** Opens what they write. */
  readonly seal = new Seal(this.#key);

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<Writers> {
    const folder = await compiled(['src/base/errors.ts', 'src/store/seal.ts', 'src/store/durable-store.ts']);
    await writeFile(path.join(folder, 'writer.js'), WRITER);
    return new Writers(folder);
  }

  /** Where the store of that name lies, alone in its folder. */
  fileOf(name: string): string {
    return path.join(this.#folder, name, 'store.sealed');
  }

  /** Starts a writer and waits for its first write. */
  async start(name: string): Promise<Writer> {
    const file = this.fileOf(name);
    const child = spawn(process.execPath, [path.join(this.#folder, 'writer.js'), file, this.#key.toString('hex')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#running.add(child);
    const closed = once(child, 'close').then(() => this.#running.delete(child));
    let said = '';
    child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
    // What it says may be cut anywhere by the kill.
    const written = (): number =>
      Number(
        said
          .slice(0, said.lastIndexOf('\n') + 1)
          .trimEnd()
          .split('\n')
          .at(-1),
      );
    const writtenMoreThan = async (generation: number): Promise<void> => {
      while (written() <= generation) {
        if (!this.#running.has(child)) throw new Error('a writer has ended by itself');
        await Promise.race([once(child.stdout, 'data'), closed]);
      }
    };
    const kill = async (): Promise<void> => {
      child.kill('SIGKILL');
      await closed;
    };
    await writtenMoreThan(0);
    return { file, written, writtenMoreThan, kill };
  }

  /** Kills those that are left, and removes everything. */
  async close(): Promise<void> {
    const gone = [...this.#running].map((child) => once(child, 'close'));
    for (const child of this.#running) child.kill('SIGKILL');
    await Promise.all(gone);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** What became of all kills. */
export interface KillResult {
  /** Nothing was lost, corrupted or left, and the writers were killed in the middle of their work. */
  readonly ok: boolean;
  readonly kills: number;
  /** Stores without something that was said to be on disk. */
  readonly lost: number;
  /** Stores that do not open, or hold half of a change. */
  readonly corrupted: number;
  /** Files beside the stores that outlived the next start. */
  readonly leftFiles: number;
}

/** Kills writers so many times. @param onProgress - takes lines for people. */
export async function killWriters(kills: number, onProgress: (line: string) => void): Promise<KillResult> {
  const writers = await Writers.open();
  const sum = { lost: 0, corrupted: 0, leftFiles: 0, halfWritten: 0, generations: 0 };
  let begun = 0;
  let ended = 0;
  const one = async (_: unknown, lane: number): Promise<void> => {
    for (let [name, before] = [`lane-${String(lane)}`, 0]; begun < kills;) {
      begun += 1;
      const writer = await writers.start(name);
      await wait(Math.random() * MAX_WAIT_MS);
      await writer.kill();
      sum.halfWritten += (await beside(writer.file)).length;
      const generation = await generationIn(writer.file, writers.seal);
      if (generation === undefined || generation > writer.written() + 1) sum.corrupted += 1;
      else if (generation < writer.written()) sum.lost += 1;
      sum.leftFiles += (await beside(writer.file)).length;
      sum.generations += Math.max(0, (generation ?? before) - before);
      before = generation ?? 0;
      // What is broken would break all that come after it.
      if (generation === undefined) name += '-again';
      ended += 1;
      if (ended % KILLS_BETWEEN_LINES === 0 || ended === kills) onProgress(lineOf(ended, kills, sum));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, kills) }, one));
  } finally {
    await writers.close();
  }
  const { lost, corrupted, leftFiles, generations } = sum;
  return { ok: lost + corrupted + leftFiles === 0 && generations > kills, kills: ended, lost, corrupted, leftFiles };
}

function lineOf(ended: number, kills: number, sum: { readonly halfWritten: number; readonly generations: number }): string {
  return `${String(ended)} of ${String(kills)} kills, ${String(sum.generations)} changes, ${String(sum.halfWritten)} half-written files`;
}

/** The names beside the file, its lock left out. */
async function beside(file: string): Promise<readonly string[]> {
  const own = path.basename(file);
  return (await readdir(path.dirname(file))).filter((name) => name !== own && name !== `${own}.lock`);
}

const generationSchema = z.object({ generation: z.int().positive() });

/** Opens the store as the next start does. @returns the generation of both texts; undefined for a store that is broken. */
async function generationIn(file: string, seal: Seal): Promise<number | undefined> {
  // The lock of a killed process is waited out, which is another test's; here it is made old.
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(`${file}.lock`, longAgo, longAgo);
  let store: DurableStore | undefined;
  try {
    store = await DurableStore.open({ file, seal });
    const texts = [await store.get('access'), await store.get('refresh')];
    const [access, refresh] = texts.map((text) => generationSchema.parse(JSON.parse(text ?? 'null')).generation);
    return access === refresh ? access : undefined;
  } catch {
    return undefined;
  } finally {
    await store?.close();
  }
}
