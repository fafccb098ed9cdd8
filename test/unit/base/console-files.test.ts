import { describe, expect, it } from 'vitest';
import { consoleFile } from '../../../src/base/console-files.ts';

describe('the files of the console', () => {
  it('are built when the program runs from the source', async () => {
    expect(await consoleFile('call.html')).toMatch(/^<!doctype html>/u);
    expect(await consoleFile('licenses.txt')).toContain('MIT');
  });

  it.each(['none.html', '../../package.json', 'console/call.js', ''])('are found by their own names, not %j', async (name) => {
    expect(await consoleFile(name)).toBeUndefined();
  });
});
