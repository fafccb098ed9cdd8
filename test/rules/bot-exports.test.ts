// `parley-voice` and `parley-voice/testing` are what bot modules import. In tests they are the source, in a build the build.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import * as door from 'parley-voice';
import * as testingEntry from 'parley-voice/testing';
import * as source from '../../src/bot/index.ts';
import * as testingSource from '../../src/bot/testing.ts';

const ROOT = path.join(import.meta.dirname, '../..');

describe('the entry of bot modules', () => {
  it('is the very module of the source in tests, not a copy and not the last build', () => {
    expect(door.bot).toBe(source.bot);
    expect(testingEntry.TestCall).toBe(testingSource.TestCall);
  });

  it('is the source in processes and threads that a test starts, too', async () => {
    const worker = new Worker("require('node:worker_threads').parentPort.postMessage(process.execArgv)", { eval: true });
    const execArgv = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    await worker.terminate();
    expect(execArgv).toEqual(process.execArgv);
    expect(process.execArgv.join('=')).toContain('--conditions=@parley/source');
  });

  it('leads from a build to the build', () => {
    const manifest: unknown = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      exports: { '.': { default: './dist/src/bot/index.js' }, './testing': { default: './dist/src/bot/testing.js' } },
    });
  });
});
