// The program as plain JavaScript, made once for all tests of a run: a process that compiles the source while it starts needs twice
// the processor time, and some tests start many. What it is made of decides where it lies, so what is there is never old.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import { packageRoot } from '../../src/base/package-root.ts';

const ROOT = packageRoot();
const PLACE = path.join(ROOT, 'cache', 'tests');
const COMPILER = path.join(import.meta.dirname, 'compile-program.mjs');
/** What decides about the program beside its sources. */
const RECIPE = [COMPILER, ...['tsconfig.json', 'package-lock.json'].map((name) => path.join(ROOT, name))];
/** What is compiled; what it imports comes with it. */
const COMPILED = ['src', 'bots', ...readdirSync(path.join(ROOT, 'test', 'fixtures')).flatMap(botsFolder)];
/** What the program reads beside its code. */
const BESIDE = ['node_modules', 'config', 'proto', 'bots/prompts'];
/** Programs that nobody has begun to use for so long are removed, ms. */
const OLD_MS = 3_600_000;

let made: string | undefined;

/** Folder that stands for the root of the package. It is made when it is not there. @throws Error with what the compiler says. */
function compiledProgram(): string {
  made ??= find();
  return made;
}

/** The module that is started as `parley`. */
export function compiledMain(): string {
  return path.join(compiledProgram(), 'src', 'cli', 'main.js');
}

/** The entry for bots of the compiled program, for a module outside of it. */
export function compiledEntry(): string {
  return pathToFileURL(path.join(compiledProgram(), 'src', 'bot', 'index.js')).href;
}

/** Flags that name folders of bots of the tests, for the program that is compiled. */
export function compiledFlags(flags: readonly string[]): readonly string[] {
  const fixtures = path.join('test', 'fixtures');
  return flags.map((flag) =>
    flag.replace(`--bots.folder=${path.join(ROOT, fixtures)}`, () => `--bots.folder=${path.join(compiledProgram(), fixtures)}`),
  );
}

function find(): string {
  const program = path.join(PLACE, `program-${contentHash()}`);
  const now = new Date(systemClock.nowMs());
  if (existsSync(program)) {
    utimesSync(program, now, now);
    return program;
  }
  mkdirSync(PLACE, { recursive: true });
  const making = mkdtempSync(path.join(PLACE, 'making-'));
  compile(making);
  for (const name of BESIDE) symlinkSync(path.join(ROOT, name), path.join(making, name));
  writeFileSync(path.join(making, 'package.json'), manifestOf());
  try {
    renameSync(making, program);
  } catch (error) {
    // Another process was faster.
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(program)) throw error;
  }
  removeOld(program);
  return program;
}

function compile(target: string): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMPILER, ROOT, target, ...COMPILED], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`the program does not compile: ${stdout}${stderr}`);
}

function contentHash(): string {
  const hash = createHash('sha256').update(manifestOf());
  for (const file of RECIPE) hash.update(readFileSync(file));
  for (const folder of COMPILED) {
    for (const name of readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/\.m?[tj]s$/u.test(name)) continue;
      hash.update(path.join(folder, name)).update(readFileSync(path.join(ROOT, folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function removeOld(current: string): void {
  for (const name of readdirSync(PLACE)) {
    const other = path.join(PLACE, name);
    const usedMs = statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (other !== current && systemClock.nowMs() - usedMs > OLD_MS) rmSync(other, { recursive: true, force: true });
  }
}

function botsFolder(name: string): readonly string[] {
  return /(?:^|-)bots$/u.test(name) ? [path.join('test', 'fixtures', name)] : [];
}

/** The package's own manifest, whose exports lead to what was compiled here. */
function manifestOf(): string {
  return readFileSync(path.join(ROOT, 'package.json'), 'utf8')
    .replaceAll(/^\s*"@parley\/source": .*\n/gmu, '')
    .replaceAll('"./dist/src/', '"./src/');
}
