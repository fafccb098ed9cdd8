import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { consoleFiles } from '../../../scripts/console.mjs';
import { consoleFile } from '../../../src/base/console-files.ts';

/** Of all pages together, packed, bytes. */
const MAX_BYTES = 150 * 1024;

describe('the files of the console', () => {
  it('are built when the program runs from the source', async () => {
    expect(await consoleFile('call.html')).toMatch(/^<!doctype html>/u);
    expect(await consoleFile('licenses.txt')).toContain('MIT');
  });

  it.each(['none.html', '../../package.json', 'console/call.js', ''])('are found by their own names, not %j', async (name) => {
    expect(await consoleFile(name)).toBeUndefined();
  });

  it('are small, all together', async () => {
    const files = [...(await consoleFiles()).values()];
    expect(files.reduce((sum, text) => sum + gzipSync(text).length, 0)).toBeLessThan(MAX_BYTES);
  });
});
