// The public platform's names stand in its contract, in the profiles, and in what a test compares both with. Everywhere else
// the code speaks of "the platform", so that another one needs a profile and no search through the source.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, ROOT, type SourceFile } from '../support/source-tree.ts';

const NEUTRAL = [
  ...['src', 'bots', 'scripts', 'console', 'docs', 'deploy', 'test', '.ci', '.github'],
  ...['config/default.yaml', 'config/example.production.yaml'],
  ...readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : [])),
];
/** What the contract and the profiles must come to, and the words that this very test looks for. */
const EXCUSED = /^test\/(?:fixtures\/contract\/\w+\.json|rules\/brand\.test\.ts)$/u;
const BRANDS = /cisco|webex|\bspark\b|wcc|ccai|byova|byods|control[ _-]?hub/giu;
/** A sound or picture may hold any bytes. */
const BINARY = /\.(?:wav|png|ico|wasm)$/u;

const PROFILES = readdirSync(path.join(ROOT, 'config/platforms')).map((file) => path.parse(file).name);
/** Whoever picks a profile must write its name: as a value of the setting, as a file, or quoted. */
const PROFILE_NAME = new RegExp(
  `(?:profile["'\`]?\\s*[=: ]\\s*["'\`]?|platforms/|\`)(?:${PROFILES.join('|')})(?:\\.yaml)?\\b(?![\\w-])`,
  'giu',
);

function brandsIn({ path: file, text }: SourceFile): readonly string[] {
  const lines = text.split('\n').map((line, index) => ({ place: `${file}:${String(index + 1)}`, line: line.replace(PROFILE_NAME, '') }));
  const inText = lines.flatMap(({ place, line }) => [...line.matchAll(BRANDS)].map(([word]) => `${place}: ${word}`));
  return [...[...file.matchAll(BRANDS)].map(([word]) => `${file} is named ${word}`), ...inText];
}

describe('the names of the public platform', () => {
  it('occur nowhere outside its contract and the profiles', () => {
    const files = filesUnder(NEUTRAL).filter(({ path: file }) => !BINARY.test(file) && !EXCUSED.test(file));
    const places = files.map(({ path: file }) => file);
    expect(places).toEqual(expect.arrayContaining(['src/app/app.ts', 'test/support/until.ts', 'vitest.config.ts', 'Dockerfile']));
    expect(files.flatMap(brandsIn)).toEqual([]);
  });

  it.each(['// as Webex does it', 'const CISCO_URL = 1;', 'package com.x.wcc.y', 'byovaServer()', 'in Control Hub', 'a spark'])(
    'would be found in `%s`',
    (text) => {
      expect(brandsIn({ path: 'src/a.ts', text })).toHaveLength(1);
    },
  );

  it('would be found in the name of a file', () => {
    expect(brandsIn({ path: 'src/webex.ts', text: '' })).toHaveLength(1);
  });

  it.each([
    '`webex`',
    'platform.profile: webex',
    'PARLEY_PLATFORM_PROFILE=webex',
    '--platform.profile webex',
    'config/platforms/webex.yaml',
  ])('may name a profile: %s', (text) => {
    expect(brandsIn({ path: 'docs/a.md', text })).toEqual([]);
  });

  it('are not excused by looking like one: `webex-api`', () => {
    expect(brandsIn({ path: 'docs/a.md', text: '`webex-api`' })).toHaveLength(1);
  });
});
