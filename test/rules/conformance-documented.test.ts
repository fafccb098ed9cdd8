// Conformance: every rule that binds a server has a check, or a reason why it cannot be seen from outside.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFORMANCE_PAGE } from '../../scripts/fake-platform-pages.mjs';
import { protocolRules } from '../../scripts/protocol-table.mjs';
import { ruleEntries, rulesTable, UNSEEN } from '../../src/fake-platform/conformance/registry.ts';
import { filesUnder, ROOT } from '../support/source-tree.ts';

const entries = new Map(ruleEntries().map((entry) => [entry.rule, entry]));
const ofServer = protocolRules(ROOT)
  .flatMap(({ rules }) => rules)
  .filter(({ duty }) => duty === 'server')
  .map(({ id }) => id);
/** Rules of the token check have no list of their own: the ones that code and tests cite. */
const ofTokens = new Set(
  filesUnder(['src', 'test', 'docs']).flatMap(({ text }) => [...text.matchAll(/\bJ-[0-9][0-9A-F]\b/gu)].map(([rule]) => rule)),
);

describe('the rules of conformance', () => {
  it.each(ofServer)('%s has a check or a reason', (rule) => {
    expect(entries.has(rule), `${rule} has neither: add a check, or a reason to UNSEEN`).toBe(true);
  });

  it('include every rule of the token check', () => {
    expect([...ofTokens].filter((rule) => !entries.has(rule))).toEqual([]);
    expect(ofTokens.size).toBeGreaterThan(25);
  });

  it('have a reason only where they have no check', () => {
    expect(Object.keys(UNSEEN).filter((rule) => entries.get(rule)?.checks.length !== 0)).toEqual([]);
  });

  it('stand in the table that docs/conformance.md speaks of, with their checks or the reason', () => {
    expect(readFileSync(path.join(ROOT, 'docs/conformance.md'), 'utf8')).toContain(`\`${CONFORMANCE_PAGE}\``);
    for (const { rule, checks, unseen } of entries.values()) {
      expect(rulesTable()).toContain(`\n| ${rule} | ${checks.length === 0 ? unseen : `\`${checks[0]?.id ?? ''}\``}`);
    }
  });
});
