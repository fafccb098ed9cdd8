// How files are named and opened. A name like "utils" says nothing about what is in it, so everything ends up in it.
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, type SourceFile } from '../support/source-tree.ts';

const PLACES = ['src', 'bots', 'test', 'scripts', 'console'];
const CODE = ['.ts', '.tsx', '.mjs', '.js', '.py'];
const MAX_LINES = 400;

const EMPTY_WORDS = /^(?:utils?|helpers?|common|misc|managers?|impl|data|info)$/u;
/** `turn-states.test.ts`, `signal-packages.d.ts`, `say-4-ulaw.wav`; what tools demand another name of stands below. */
const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|d|config))?\.[a-z0-9]+$/u;
const KEBAB_FOLDER = /^[a-z0-9]+(?:-[a-z0-9]+)*$/u;
const GIVEN_NAMES = new Set(['README.md']);

function namesThatSayNothing({ path: file }: SourceFile): readonly string[] {
  // The last word is the noun: data-sources is about sources, session-data about nothing.
  const nouns = file.split('/').map((part) => part.split('.')[0]?.split('-').at(-1) ?? '');
  return nouns.some((noun) => EMPTY_WORDS.test(noun)) ? [file] : [];
}

function namesNotKebab({ path: file }: SourceFile): readonly string[] {
  const { dir, base } = path.parse(file);
  const isFine = dir.split('/').every((folder) => KEBAB_FOLDER.test(folder)) && (KEBAB.test(base) || GIVEN_NAMES.has(base));
  return isFine ? [] : [file];
}

function tooLong({ path: file, text }: SourceFile): readonly string[] {
  const lines = text.split('\n').length - 1;
  return lines > MAX_LINES ? [`${file}: ${String(lines)} lines`] : [];
}

function withoutOpening({ path: file, text }: SourceFile): readonly string[] {
  const body = text.replace(/^#!.*\n/u, '');
  return /^\/\/ \S/u.test(body) ? [] : [file];
}

function namesOfExports({ path: file, text }: SourceFile): readonly string[] {
  const exports = text.matchAll(/^export (?:default )?(?:abstract )?(?:class|interface|type|function|const) (?<name>\w+)/gmu);
  return [...exports]
    .map(({ groups }) => groups?.['name'] ?? '')
    .filter((name) => /^I[A-Z][a-z]/u.test(name) || /(?:Manager|Impl|Utils?|Helpers?)$/u.test(name))
    .map((name) => `${file}: ${name}`);
}

describe('names and openings of files', () => {
  const code = filesUnder(PLACES, CODE);

  it('are checked in every place where code lies', () => {
    for (const place of PLACES) expect(code.some(({ path: file }) => file.startsWith(`${place}/`))).toBe(true);
  });

  it('say what the file is about', () => {
    expect(filesUnder(PLACES).flatMap(namesThatSayNothing)).toEqual([]);
  });

  it('are kebab-case', () => {
    expect(filesUnder(PLACES).flatMap(namesNotKebab)).toEqual([]);
  });

  it(`are of files with at most ${String(MAX_LINES)} lines`, () => {
    expect(code.flatMap(tooLong)).toEqual([]);
  });

  it('are followed by a comment that says what the file does', () => {
    const own = code.filter(({ path: file }) => /^(?:src|bots|scripts|console)\//u.test(file) && !file.endsWith('.test.ts'));
    expect(own.flatMap(withoutOpening)).toEqual([]);
  });

  it('export no name that says nothing', () => {
    expect(code.flatMap(namesOfExports)).toEqual([]);
  });

  it.each([
    'src/base/utils.ts',
    'src/common/text.ts',
    'test/support/call-helpers.ts',
    'src/store/session-data.ts',
    'src/bot/bot-info.test.ts',
  ])('would not be accepted: %s', (file) => {
    expect(namesThatSayNothing({ path: file, text: '' })).toEqual([file]);
  });

  it.each(['src/base/fakeClock.ts', 'src/Store/memory.ts', 'src/base/fake_clock.ts', 'src/base/a.b.ts'])(
    'are no kebab-case: %s',
    (file) => {
      expect(namesNotKebab({ path: file, text: '' })).toEqual([file]);
    },
  );

  it('accept a noun that only begins with such a word', () => {
    expect(namesThatSayNothing({ path: 'src/auth/data-sources.ts', text: '' })).toEqual([]);
  });

  it('would not accept an export that says nothing, a file too long or without opening', () => {
    expect(namesOfExports({ path: 'a.ts', text: 'export class CallManager {}\nexport interface ICall {}' })).toHaveLength(2);
    expect(namesOfExports({ path: 'a.ts', text: 'export interface Input {}\nexport type IpAddress = string;' })).toEqual(
      ['a.ts: IpAddress'].slice(1),
    );
    expect(tooLong({ path: 'a.ts', text: 'x\n'.repeat(MAX_LINES + 1) })).toHaveLength(1);
    expect(withoutOpening({ path: 'a.ts', text: "import 'x';\n" })).toHaveLength(1);
  });
});
