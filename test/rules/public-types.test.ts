// docs/public-types.txt says what the programs of others see of the package. The step `generate` of `npm run check` demands that it is
// what the sources give.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PUBLIC_TYPES } from '../../scripts/public-types.mjs';
import { ROOT } from '../support/source-tree.ts';

describe('docs/public-types.txt', () => {
  const committed = readFileSync(path.join(ROOT, PUBLIC_TYPES), 'utf8');

  it('has every entry of the package, and the members of what is behind them', () => {
    const { exports } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { exports: object };
    const entries = Object.keys(exports).filter((entry) => entry !== './package.json');
    for (const entry of entries) expect(committed).toContain(`\nparley-voice${entry.slice(1)}\n  `);
    expect(committed).toMatch(/interface SpeechPatience \{\n {4}readonly \w+/u);
  });
});
