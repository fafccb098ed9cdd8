// What a release says of itself: commits without a line in the changelog, and the lines of one version.
import { describe, expect, it } from 'vitest';
import { draftOf, sectionOf, withoutLine } from '../../../scripts/upgrade/changelog.ts';

const FILE = 'CHANGELOG.md';
const commit = (subject: string, body = '', ...files: readonly string[]): string =>
  `\u001E${subject}\u001F${body}\u001F\n\n${files.join('\n')}\n`;

describe('commits without a line', () => {
  it('are those that users may notice and that left the changelog as it was, under their headings', () => {
    const log = [
      commit('feat(bot): a thing', '', 'src/a.ts'),
      commit('feat: with its line', '', FILE, 'src/a.ts'),
      commit('fix!: another default', '', 'docs/CHANGELOG.md'),
      commit('refactor(app): inside', '', 'src/a.ts'),
      commit('refactor(app): a name', 'Why.\n\nBREAKING CHANGE: it is gone', 'src/a.ts'),
      commit('fix(ai): a fault', 'It said BREAKING CHANGE: in the middle.', 'src/b.ts'),
    ].join('');
    expect(draftOf(withoutLine(log, FILE))).toEqual([
      ...['### Changed', '- fix!: another default', '- refactor(app): a name'],
      ...['### Added', '- feat(bot): a thing', '### Fixed', '- fix(ai): a fault'],
    ]);
    expect(draftOf(withoutLine('', FILE))).toEqual([]);
  });
});

describe('the lines of a version', () => {
  const text = '# Changelog\n\n## [1.2.0] - 2026-12-01\n\n### Added\n\n- More.\n\n## [1.1.0] - 2026-11-01\n\n- Less.\n\n## [1.0.0]\n';

  it.each([
    ['1.2.0', '### Added\n\n- More.'],
    ['1.1.0', '- Less.'],
    ['1.0.0', undefined],
    ['1.2', undefined],
  ])('of %s', (version, lines) => {
    expect(sectionOf(text, version)).toBe(lines);
  });
});
