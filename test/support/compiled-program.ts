// The program as plain JavaScript, made once for all tests of a run: a process that compiles the source while it starts needs twice
// the processor time, and some tests start many. What it is made of decides where it lies, so what is there is never old.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/base/package-root.ts';
import { keptFolder } from './kept-folders.ts';

const ROOT = packageRoot();
const COMPILER = path.join(import.meta.dirname, 'compile-program.mjs');
/** What is compiled; what it imports comes with it. */
const COMPILED = ['src', 'bots', ...readdirSync(path.join(ROOT, 'test', 'fixtures')).flatMap(botsFolder)];
/** What the program reads beside its code. */
const BESIDE = ['node_modules', 'config', 'proto', 'bots/prompts', 'test/fixtures/speech'];
/** What decides about the program beside its sources. */
const RECIPE = ['test/support', 'test/fleet', 'test/fixtures/load', 'scripts/console.mjs', 'console'];

let made: string | undefined;

/** Folder that stands for the root of the package. It is made when it is not there. @throws Error with what the compiler says. */
function compiledProgram(): string {
  made ??= find();
  return made;
}

/** The module that is started as `parley`. */
export function compiledMain(): string {
  return compiledModule('src/cli/main.ts');
}

/** Another module that is begun as a process. @param module - as compile-program.mjs lists it. */
export function compiledModule(module: string): string {
  return path.join(compiledProgram(), module.replace(/\.ts$/u, '.js'));
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
  const program = keptFolder('program', ['package.json', 'package-lock.json', 'tsconfig.json', ...RECIPE, ...COMPILED]);
  if (existsSync(program)) return program;
  const making = mkdtempSync(path.join(path.dirname(program), 'making-'));
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
  return program;
}

function compile(target: string): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMPILER, ROOT, target, ...COMPILED], {
    encoding: 'utf8',
    timeout: 170_000,
  });
  if (status !== 0) throw new Error(`the program does not compile: ${stdout}${stderr}`);
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
