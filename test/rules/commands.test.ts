// The commands of package.json are few, and each check and benchmark is behind `npm run check -- NAME` or `npm run bench -- NAME`.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BENCHES, CHECKS } from '../../scripts/commands.mjs';
import { ROOT } from '../support/source-tree.ts';

const MAX_SCRIPTS = 18;

describe('the commands of the project', () => {
  it('are at most 18', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(MAX_SCRIPTS);
  });

  it('name every check and benchmark of scripts/', () => {
    const files = readdirSync(path.join(ROOT, 'scripts')).filter((file) => /^(?:check|bench)-/u.test(file));
    expect([...Object.values(CHECKS), ...Object.values(BENCHES)].map(({ file }) => file)).toEqual(expect.arrayContaining(files));
  });

  it.each([
    ['check', 'model', 'npm run check -- model --homes'],
    ['bench', 'engine', 'npm run bench -- engine'],
  ])('npm run %s -- %s --help says what it takes', (command, name, text) => {
    const help = execFileSync(process.execPath, [`scripts/${command}.mjs`, name, '--help'], {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(help).toContain(text);
  });
});
