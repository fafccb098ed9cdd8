// The documentation as a site: every page stands behind one door, is read in ten minutes, and links only to what is there. And every block
// of code in it is one that somebody has compiled, loaded or run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PAGES } from '../../scripts/site/doors.mjs';
import { readPage } from '../../scripts/site/page.mjs';
import { buildSite } from '../../scripts/site/site.mjs';
import { checkSettings } from '../../src/app/config/load-settings.ts';
import { readEvals } from '../../src/cli/evaluation/eval-file.ts';
import { readScenarios } from '../../src/fake-platform/scenario/read.ts';
import { filesUnder, ROOT } from '../support/source-tree.ts';

/** Words that are read in ten minutes. */
const MAX_WORDS = 2200;
/** Pages in which one looks something up, and does not read from the first line to the last. */
const REFERENCES = ['docs/bot-api.md', 'CHANGELOG.md'];
/** Programs of other people, and of the shell, that commands of the documents call. */
const OTHER_PROGRAMS = [
  'cd',
  'cp',
  'curl',
  'docker',
  'git',
  'kubectl',
  'node',
  'openssl',
  'redis-cli',
  'sudo',
  'systemctl',
  'tar',
  'install',
  'useradd',
  'ulimit',
];

const folder = mkdtempSync(path.join(tmpdir(), 'parley-site-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const pages = filesUnder(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'docs'], ['.md']);

interface Block {
  readonly page: string;
  readonly language: string;
  readonly code: string;
}

const blocks: readonly Block[] = pages.flatMap(({ path: page, text }) =>
  [...text.matchAll(/^```(?<language>\w*)\n(?<code>[\s\S]*?)^```$/gmu)].map(({ groups }) => ({
    page,
    language: groups?.['language'] ?? '',
    code: groups?.['code'] ?? '',
  })),
);

const blocksOf = (language: string): readonly Block[] => blocks.filter((block) => block.language === language);

describe('the site', () => {
  it('has every page behind one door, and two that are made for it alone', () => {
    const made = ['docs/generated/protocol.md', 'docs/generated/conformance-rules.md'];
    const isMade = (file: string) => made.includes(file);
    expect(PAGES.filter((file) => !isMade(file)).toSorted()).toEqual(pages.map((page) => page.path).filter((file) => !isMade(file)));
    expect(PAGES.filter(isMade)).toEqual(made);
  });

  it('is built without a link that leads nowhere, and asks no other server for anything', () => {
    const target = path.join(folder, 'built');
    const { pages: count, links } = buildSite(target);
    expect([count, links > 100]).toEqual([PAGES.length, true]);
    const html = readFileSync(path.join(target, 'docs', 'voice.html'), 'utf8');
    expect(html).toContain('<h2 id="languages-and-voices">');
    expect(html).toContain('href="bot-api.html"');
    for (const { path: file, text } of filesUnder(['.'], ['.html'], target))
      expect(text.replaceAll(/<a href="https?:[^"]*"/gu, ''), file).not.toMatch(/(?:src|href)="(?:https?:)?\/\//u);
    expect(readFileSync(path.join(target, 'search-index.js'), 'utf8')).toContain('languages-and-voices');
  });

  it('finds links to files, pages and headings that are not there', () => {
    const page = readPage('docs/x.md', '# X\n\n[a](y.md#z) [b](#x) [c](../README.md) [d](https://x.example)\n');
    expect(page.links).toEqual([
      { to: 'docs/y.md', anchor: 'z' },
      { to: 'docs/x.md', anchor: 'x' },
      { to: 'README.md', anchor: '' },
    ]);
    expect(page.html).toContain('href="y.html#z"');
    expect(page.html).toContain('href="../README.html"');
  });

  it.each(pages.filter((page) => !REFERENCES.includes(page.path)).map(({ path: file, text }) => [file, text] as const))(
    '%s is read in ten minutes, tables and code aside',
    (_file, text) => {
      const read = text
        .replaceAll(/^```[\s\S]*?^```$/gmu, '')
        .split('\n')
        .filter((line) => !/^(?:\||<!--)/u.test(line));
      expect(read.join(' ').split(/\s+/u).length).toBeLessThanOrEqual(MAX_WORDS);
    },
  );
});

describe('blocks of code in the documents', () => {
  it('are in languages of which somebody looks after', () => {
    expect([...new Set(blocks.map(({ language }) => language))].toSorted()).toEqual(['', 'sh', 'text', 'ts', 'yaml']);
  });

  // docs/bot-api.md is made of compiled files, which bot-api.test.ts compares; readme.test.ts writes the files of README.md and runs them.
  it.each(blocksOf('ts').filter(({ page }) => !['docs/bot-api.md', 'README.md'].includes(page)))(
    '$page has TypeScript that is part of a tested file',
    ({ code }) => {
      const tested = filesUnder(['docs/examples', 'template/bots', 'template/ai/bots', 'test', 'src', 'bots'], ['.ts']);
      expect(
        tested.filter(({ text }) => text.includes(code.trimEnd())),
        code,
      ).not.toEqual([]);
    },
  );

  // The script in docs/assistants.md is a file that models.test.ts runs.
  it.each(blocksOf('yaml').filter(({ page }) => !['docs/scenarios.md', 'docs/assistants.md', 'docs/evaluating.md'].includes(page)))(
    '$page has a configuration that the server knows',
    ({ code }) => {
      const file = path.join(folder, 'block.yaml');
      writeFileSync(file, code);
      const { problems } = checkSettings({ argv: ['--config', file], env: {} });
      // What a fragment leaves out, and which files are not on this machine, is not its fault.
      const own = problems.filter(({ rule, mend }) => /^(?:must be|the key is not known)/u.test(rule) && !mend.includes('ENOENT'));
      expect(own).toEqual([]);
    },
  );

  it.each(blocksOf('yaml').filter(({ page }) => page === 'docs/scenarios.md'))('$page has scenarios that can be read', ({ code }) => {
    expect(readScenarios(code)).not.toHaveProperty('problems');
  });

  it.each(blocksOf('yaml').filter(({ page }) => page === 'docs/evaluating.md'))('$page has evaluations that can be read', ({ code }) => {
    expect(readEvals(code)).not.toHaveProperty('problems');
  });

  it.each(blocksOf('sh'))('$page has commands that are there', ({ code }) => {
    const scripts = ['package.json', 'template/package.template.json', 'template/ai/package.template.json'].flatMap((file) =>
      Object.keys((JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as { scripts: object }).scripts),
    );
    const lines = code
      .replaceAll(/\\\n/gu, ' ')
      .split('\n')
      .map((line) => line.replace(/(?:^| )#.*$/u, '').trim());
    for (const line of lines.filter((each) => each !== '')) {
      const words = line.split(/\s+/u).filter((word) => !/^[A-Z_]+=/u.test(word));
      const [program = '', first = '', second = ''] = words;
      if (program === 'npm' && first === 'run') expect(scripts, line).toContain(second);
      else expect(['npm', 'npx', 'parley', 'check', ...OTHER_PROGRAMS], line).toContain(program);
    }
  });
});
