// docs/doctor.md and the doctor say the same about checks and findings: no row missing, no row too many.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECK_IDS, PREFLIGHT_IDS } from '../../src/admin/doctor/check.ts';
import { FINDING_CODES } from '../../src/admin/doctor/finding.ts';
import { DOCTOR_CHECKS } from '../../src/admin/doctor/checks.ts';
import { filesUnder, ROOT } from '../support/source-tree.ts';

const PAGE = readFileSync(path.join(ROOT, 'docs/doctor.md'), 'utf8');

/** The rows of the one table under a heading: the name in its first cell, and the other cells. */
function tableUnder(heading: string): readonly (readonly [name: string, ...cells: string[]])[] {
  const section = PAGE.split(/^## /mu).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `(?<name>[a-z\d_]+)` +\|(?<rest>.*)\|$/gmu)].map(({ groups }) => {
    return [groups?.['name'] ?? '', ...(groups?.['rest'] ?? '').split('|').map((cell) => cell.trim())];
  });
}

describe('docs/doctor.md', () => {
  it('has exactly the checks, in their order, with what they say', () => {
    const documented = tableUnder('Checks').map(([id, title]) => [id, title]);
    expect(documented).toEqual(DOCTOR_CHECKS.map(({ id, title }) => [id, title]));
  });

  it('has exactly the checks before a start, in their order', () => {
    expect(tableUnder('Before a start').map(([id]) => id)).toEqual(PREFLIGHT_IDS);
  });

  it('has exactly the codes of findings, in their order', () => {
    expect(tableUnder('Findings').map(([code]) => code)).toEqual(FINDING_CODES);
  });

  it.each(tableUnder('Findings'))('says of %s which checks find it, how bad it is, what it means and how to mend it', (_code, ...cells) => {
    const [checks = '', severity, meaning, mend] = cells;
    for (const check of checks.split(', ')) expect(['any', ...CHECK_IDS, ...PREFLIGHT_IDS]).toContain(check);
    expect(['fault', 'warning']).toContain(severity);
    for (const text of [meaning, mend]) expect(text).toMatch(/^\S.{10,}$/u);
  });

  it.each(FINDING_CODES)('speaks of nothing that cannot be found: %s', (code) => {
    const sources = filesUnder(['src/admin/doctor', 'src/app'], ['.ts']).filter(({ path: file }) => !file.endsWith('/finding.ts'));
    expect(sources.some(({ text }) => text.includes(`'${code}'`))).toBe(true);
  });
});
