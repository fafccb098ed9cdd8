import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { DurableStore, readStore } from '../../../src/store/durable-store.ts';
import { Seal } from '../../../src/store/seal.ts';
import { compiled } from '../../support/compiled.ts';

/** Times a process is killed while it writes. For hundreds: `PARLEY_KILLS=500 npm test -- durable-store-killed`. */
const KILLS = Number(process.env['PARLEY_KILLS'] ?? 20);
/** Processes at a time. */
const AT_ONCE = 3;
/** Largest wait between the first write and the kill, ms: several writes. */
const MAX_WAIT_MS = 60;

const key = randomBytes(32);
const seal = new Seal(key);
let folder = '';

// Renews a pair of tokens that must always be of one generation, and says which generations are on disk.
const WRITER = `
import { DurableStore } from './src/store/durable-store.js';
import { Seal } from './src/store/seal.js';
const [file, key] = process.argv.slice(2);
const store = await DurableStore.open({ file, seal: new Seal(Buffer.from(key, 'hex')) });
const filler = 'x'.repeat(3000);
for (let generation = 1; ; generation += 1) {
  const text = JSON.stringify({ generation, filler });
  await store.apply([{ key: 'access', value: text }, { key: 'refresh', value: text }]);
  process.stdout.write(generation + '\\n');
}
`;

beforeAll(async () => {
  folder = await compiled(['src/base/errors.ts', 'src/store/seal.ts', 'src/store/durable-store.ts']);
  await writeFile(path.join(folder, 'writer.js'), WRITER);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Writer {
  readonly file: string;
  readonly child: ChildProcess;
  /** The newest generation that it said is on disk. */
  readonly written: () => number;
}

/** Starts a writer and waits for its first write. */
async function start(name: string): Promise<Writer> {
  const file = path.join(folder, name, 'store.sealed');
  const child = spawn(process.execPath, [path.join(folder, 'writer.js'), file, key.toString('hex')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  return { file, child, written: () => Number(said.trim().split('\n').at(-1)) };
}

async function kill({ child }: Writer): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

const generationOf = (text: string | undefined): number => (JSON.parse(text ?? '{}') as { generation: number }).generation;

describe('a process that is killed while it writes', () => {
  it(
    `loses nothing that was written and leaves no half of a change, ${String(KILLS)} times`,
    { timeout: 20_000 + KILLS * 1000 },
    async () => {
      let left = KILLS;
      let written = 0;
      const one = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const writer = await start(`killed-${String(left)}`);
          await new Promise<void>((resolve) => {
            systemClock.after(Math.random() * MAX_WAIT_MS, resolve);
          });
          await kill(writer);
          const found = await readStore({ file: writer.file, seal });
          const generation = generationOf(found.get('access'));
          expect(generation).toBe(generationOf(found.get('refresh')));
          expect(generation).toBeGreaterThanOrEqual(writer.written());
          // One more may be on disk before it was said.
          expect(generation).toBeLessThanOrEqual(writer.written() + 1);
          written += generation;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      // Killed in the middle of the work and not before it began.
      expect(written).toBeGreaterThan(KILLS);
    },
  );

  it('is waited for no longer than its lock lives, and keeps others out while it runs', { timeout: 60_000 }, async () => {
    const writer = await start('locked');
    const impatient = DurableStore.open({ file: writer.file, seal });
    let isIn = false;
    const entered = impatient.then(() => {
      isIn = true;
    });
    const before = writer.written();
    await new Promise<void>((resolve) => {
      writer.child.stdout?.on('data', () => {
        if (writer.written() > before + 20) resolve();
      });
    });
    expect(isIn).toBe(false);
    await kill(writer);
    await entered;
    const store = await impatient;
    expect(generationOf(await store.get('access'))).toBeGreaterThanOrEqual(writer.written());
    await store.set('access', 'taken over');
    await store.close();
  });
});
