import { describe, expect, it } from 'vitest';
import { consoleFile } from '../../../src/base/console-files.ts';

describe('the files of the console', () => {
  it('are built when the program runs from the source', async () => {
    const [html, script] = await Promise.all(['call.html', 'call.js'].map(consoleFile));
    expect(html).toContain('<!doctype html>');
    expect(script).not.toBe('');
    expect(html).toContain(script);
  });

  it.each(['none.html', '../../package.json', 'console/call.js', ''])('are found by their own names, not %j', async (name) => {
    expect(await consoleFile(name)).toBeUndefined();
  });
});
