// docs/fake-platform.md explains every finding that a call can have, and no other.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FINDING_CODES } from '../../src/fake-platform/caller/finding.ts';
import { ROOT } from '../support/source-tree.ts';

describe('the findings of a call', () => {
  it('stand in docs/fake-platform.md in their order, each with a sentence', () => {
    const page = readFileSync(path.join(ROOT, 'docs/fake-platform.md'), 'utf8');
    const section = /^## What is found\n(?<rows>[\s\S]*?)^## /mu.exec(page)?.groups?.['rows'] ?? '';
    const rows = [...section.matchAll(/^\| `(?<code>[a-z_]+)` +\| (?<text>.+?) +\|$/gmu)];
    expect(rows.map(({ groups }) => groups?.['code'])).toEqual([...FINDING_CODES]);
    expect(rows.filter(({ groups }) => !/^[A-Z].*\.$/u.test(groups?.['text'] ?? ''))).toEqual([]);
  });
});
