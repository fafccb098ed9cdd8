// docs/public-types.txt says what the programs of others see of the package: a change that nobody meant shows here.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PUBLIC_TYPES, publicTypes } from '../../scripts/public-types.mjs';
import { ROOT } from '../support/source-tree.ts';

describe('docs/public-types.txt', () => {
  const committed = readFileSync(path.join(ROOT, PUBLIC_TYPES), 'utf8');

  it('is what the sources give: otherwise run `npm run generate`, commit it, and say in CHANGELOG.md under Changed or Removed what is gone', () => {
    expect(publicTypes(ROOT)).toBe(committed);
  }, 240_000);

  it('has every entry of the package, and the members of what is behind them', () => {
    const { exports } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { exports: object };
    const entries = Object.keys(exports).filter((entry) => entry !== './package.json');
    for (const entry of entries) expect(committed).toContain(`\nparley-voice${entry.slice(1)}\n  `);
    expect(committed).toMatch(/interface SpeechPatience \{\n {4}readonly \w+/u);
  });
});
