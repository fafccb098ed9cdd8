// A small part of `npm run check -- store`, and how long a killed process keeps others out.
import { expect, it, describe } from 'vitest';
import { DurableStore } from '../../../src/store/durable-store.ts';
import { killWriters, Writers } from '../../support/store-kills.ts';

const KILLS = 8;

describe('a process that is killed while it writes', () => {
  it(`loses nothing that was written, leaves no half of a change and no file, ${String(KILLS)} times`, { timeout: 180_000 }, async () => {
    const said: string[] = [];
    const result = await killWriters(KILLS, (line) => said.push(line));
    expect(result, said.join('\n')).toEqual({ ok: true, kills: KILLS, lost: 0, corrupted: 0, leftFiles: 0 });
  });

  it('is waited for no longer than its lock lives, and keeps others out while it runs', { timeout: 180_000 }, async () => {
    const writers = await Writers.open();
    try {
      const writer = await writers.start('locked');
      const impatient = DurableStore.open({ file: writer.file, seal: writers.seal });
      let isIn = false;
      const entered = impatient.then(() => {
        isIn = true;
      });
      await writer.writtenMoreThan(writer.written() + 20);
      expect(isIn).toBe(false);
      await writer.kill();
      await entered;
      const store = await impatient;
      const { generation } = JSON.parse((await store.get('access')) ?? '{}') as { generation: number };
      expect(generation).toBeGreaterThanOrEqual(writer.written());
      await store.set('access', 'taken over');
      await store.close();
    } finally {
      await writers.close();
    }
  });
});
