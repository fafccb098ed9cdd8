// docs/protocol-rules.yaml and the page that is made of it: the list is complete, what cites a rule cites one that exists, and a rule of
// the server has a test of the server.
import { describe, expect, it } from 'vitest';
import { isOfFakePlatform, protocolCitations, protocolPage, protocolRules, ruleIdsIn } from '../../scripts/protocol-table.mjs';
import { testTitles } from '../../scripts/test-titles.mjs';
import { filesUnder, ROOT } from '../support/source-tree.ts';

const rules = protocolRules(ROOT).flatMap((section) => section.rules);
const known = new Set(rules.map(({ id }) => id));
const { code, tests } = protocolCitations(ROOT);

describe('the rules of the turn grammar', () => {
  it('stand in the list once each, in their order, with every member filled in', () => {
    expect(rules.map(({ id }) => id)).toEqual([...known].sort());
    expect(rules).toHaveLength(134);
    for (const rule of rules) {
      expect(
        Object.keys(rule).filter((member) => !['id', 'duty', 'asks', 'how', 'open'].includes(member)),
        rule.id,
      ).toEqual([]);
      expect(['server', 'platform', 'nobody'], rule.id).toContain(rule.duty);
      for (const text of [rule.asks, rule.how ?? '-', rule.open ?? '-']) expect(text.trim(), rule.id).not.toBe('');
    }
  });

  it.each(rules.filter(({ duty }) => duty === 'server'))('$id is named by the title of a test of the server', ({ id }) => {
    const proofs = (tests.get(id) ?? []).filter(({ file }) => !isOfFakePlatform(file));
    expect(proofs, `no test of the server names ${id} in its title`).not.toEqual([]);
  });

  it.each(rules.filter(({ duty }) => duty === 'server'))(
    '$id is cited by code of the server, or the list says how it is obeyed',
    (rule) => {
      const cited = (code.get(rule.id) ?? []).filter((file) => !isOfFakePlatform(file));
      expect(cited.length > 0 || rule.how !== undefined, `no file of src/ cites ${rule.id}, and the list has no "how" for it`).toBe(true);
    },
  );

  it.each(rules.filter(({ duty }) => duty === 'platform'))('$id is named by the title of a test of the fake platform', ({ id }) => {
    const proofs = (tests.get(id) ?? []).filter(({ file }) => isOfFakePlatform(file));
    expect(proofs, `no test of the fake platform names ${id} in its title`).not.toEqual([]);
  });

  it('are the only ones that anything cites', () => {
    const files = filesUnder(['src', 'test', 'bots', 'proto', 'config', 'scripts', 'docs', 'README.md', 'CONTRIBUTING.md']);
    const foreign = files.flatMap(({ path: file, text }) =>
      ruleIdsIn(text)
        .filter((id) => !known.has(id))
        .map((id) => `${file}: ${id}`),
    );
    expect(foreign.filter((line) => !line.startsWith('test/rules/protocol'))).toEqual([]);
    expect(files.length).toBeGreaterThan(200);
  });

  it('stand in the page that is made of the list, each in one row', () => {
    const rows = [...protocolPage(ROOT).matchAll(/^\| \*\*(?<id>[^*]+)\*\* \| (?:server|platform|not known) \| \S.* \|$/gmu)];
    expect(rows.map(({ groups }) => groups?.['id'])).toEqual(rules.map(({ id }) => id));
  });
});

describe('what counts as a title', () => {
  const titles = (source: string): readonly string[] => testTitles('a.test.ts', source);

  it('is what a test or a group is called, and no comment and no other text', () => {
    const source = `
      // G-01 in a comment
      describe('a group', () => {
        const text = 'G-02 in a text';
        it('G-03 does it', () => { expect(text).toBe('G-04'); });
        test.skipIf(text === '')(\`G-05 \${text} does it\`, async () => {});
      });`;
    expect(titles(source)).toEqual(['a group', 'G-03 does it', 'G-05 ${text} does it']);
  });

  it('is not what never runs', () => {
    expect(titles(`it.skip('G-01', () => {}); it.todo('G-02'); describe.skip('G-03', () => { it('G-04', () => {}); });`)).toEqual([]);
  });

  it('has in it what the rows of a table put there', () => {
    expect(titles(`it.each(['a (G-01)', 'b'])('%s is refused', () => {});`)).toEqual(['a (G-01) is refused', 'b is refused']);
    expect(titles(`const ROWS = [['a (G-01)', 1], ['b', 2]] as const; it.each(ROWS)('%s is refused', () => {});`)).toEqual([
      'a (G-01) is refused',
      'b is refused',
    ]);
    expect(titles(`it.each([{ name: 'G-01 a' }, { name: 'b' }])('$name works', () => {});`)).toEqual(['G-01 a works', 'b works']);
    expect(titles(`it.each(made())('G-01 %s works', () => {});`)).toEqual(['G-01 %s works']);
  });

  it('finds ids and what looks like one', () => {
    expect(ruleIdsIn('G-01, (G-3A) and G-01 again, G-099, W-2A, but neither G-nn nor G.711 nor XG-01 nor W-x')).toEqual([
      ...['G-01', 'G-3A', 'G-099', 'W-2A'],
    ]);
  });
});
