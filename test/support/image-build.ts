// Runs the steps of a Dockerfile without a container engine: every stage is a folder, absolute paths lie below it, and the
// base image is this machine. Knows the instructions that our Dockerfile uses and refuses every other.
import { execFile } from 'node:child_process';
import { linkSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { cp, mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** One instruction: the word, and what follows with continuation lines joined. */
export interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** What the last stage says about the container that is started from it. */
export interface BuiltImage {
  /** Folder that stands for `/`. */
  readonly root: string;
  /** Absolute inside the image, like the volumes. */
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly labels: readonly string[];
  readonly command: readonly string[];
  readonly healthCommand: readonly string[];
}

interface Stage {
  readonly name: string;
  readonly root: string;
  readonly env: Record<string, string>;
  readonly volumes: string[];
  readonly labels: string[];
  workdir: string;
  user: string;
  command: readonly string[];
  healthCommand: readonly string[];
}

/** Splits a Dockerfile into its instructions. */
export function instructionsOf(dockerfile: string): readonly Instruction[] {
  const lines = dockerfile.split('\n').filter((line) => !/^\s*(?:#|$)/u.test(line));
  const joined = lines.join('\n').replaceAll(/\\\n\s*/gu, '');
  return joined.split('\n').map((line) => {
    const { word, rest } = /^(?<word>[A-Z]+)\s+(?<rest>.+)$/u.exec(line)?.groups ?? {};
    if (word === undefined || rest === undefined) throw new Error(`this is no instruction: ${line}`);
    return { word, rest: rest.trim() };
  });
}

/**
 * Whether `.dockerignore` lets a file into the build: the last pattern that matches it or a folder above it decides.
 *
 * @param file - relative to the context.
 */
export function mayEnter(dockerignore: string, file: string): boolean {
  const above = file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  const patterns = dockerignore.split('\n').filter((line) => !/^\s*(?:#|$)/u.test(line));
  const deciding = patterns.findLast((pattern) => above.some((part) => matcher(pattern.replace(/^!/u, '')).test(part)));
  return deciding === undefined || deciding.startsWith('!');
}

function matcher(pattern: string): RegExp {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\]/gu, '\\$&').replaceAll(/\*\*\/|\*|\?/gu, (wildcard) => {
    if (wildcard === '**/') return '(?:.*/)?';
    return wildcard === '*' ? '[^/]*' : '[^/]';
  });
  return new RegExp(`^${source}$`, 'u');
}

/** Builds the image of a Dockerfile, stage by stage. */
export class ImageBuild {
  readonly #context: string;
  readonly #target: string;
  readonly #dockerignore: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #args: Map<string, string>;
  readonly #insteadOf: ReadonlyMap<string, string>;
  readonly #stages: Stage[] = [];

  /**
   * @param context - folder that holds the Dockerfile.
   * @param target - empty folder for the stages.
   * @param env - what the RUN steps find of this machine: the way to programs, the packages already fetched.
   * @param insteadOf - commands that are run in place of others, because something else proves those.
   */
  private constructor(
    context: string,
    target: string,
    dockerignore: string,
    args: ReadonlyMap<string, string>,
    env: Record<string, string | undefined>,
    insteadOf: ReadonlyMap<string, string>,
  ) {
    this.#context = context;
    this.#target = target;
    this.#dockerignore = dockerignore;
    this.#args = new Map(args);
    this.#env = env;
    this.#insteadOf = insteadOf;
  }

  /** Runs all steps. @throws when one fails, or the Dockerfile says something that this cannot do. */
  static async run(
    context: string,
    target: string,
    args: ReadonlyMap<string, string>,
    env: Record<string, string | undefined>,
    insteadOf: ReadonlyMap<string, string> = new Map(),
  ): Promise<BuiltImage> {
    const dockerignore = await readFile(path.join(context, '.dockerignore'), 'utf8');
    const build = new ImageBuild(context, target, dockerignore, args, env, insteadOf);
    for (const instruction of instructionsOf(await readFile(path.join(context, 'Dockerfile'), 'utf8'))) await build.#step(instruction);
    return build.#stage();
  }

  async #step({ word, rest }: Instruction): Promise<void> {
    if (word === 'ARG') {
      this.#declare(rest);
      return;
    }
    if (word === 'FROM') return this.#begin(rest);
    const stage = this.#stage();
    switch (word) {
      case 'WORKDIR':
        stage.workdir = path.posix.resolve(stage.workdir, rest);
        await mkdir(this.#inside(stage, '.'), { recursive: true });
        return;
      case 'COPY':
        return this.#copy(stage, rest);
      case 'RUN':
        return this.#run(stage, rest);
      case 'ENV':
        for (const [, name, value] of rest.matchAll(/(?<name>\w+)=(?<value>"[^"]*"|\S+)/gu)) stage.env[name ?? ''] = unquoted(value ?? '');
        return;
      case 'LABEL':
        stage.labels.push(...[...rest.matchAll(/(?<name>[\w.]+)="[^"]*"/gu)].map((match) => match.groups?.['name'] ?? ''));
        return;
      case 'VOLUME':
        stage.volumes.push(rest);
        return;
      case 'USER':
        stage.user = rest;
        return;
      case 'CMD':
        stage.command = execForm(rest);
        return;
      case 'HEALTHCHECK':
        stage.healthCommand = execForm(rest.replace(/^(?:--\S+\s+)*CMD\s+/u, ''));
        return;
      case 'EXPOSE':
        return;
      default:
        throw new Error(`the test cannot do ${word}; teach it, or do without`);
    }
  }

  #declare(rest: string): void {
    const { name = '', value } = /^(?<name>\w+)(?:=(?<value>.*))?$/u.exec(rest)?.groups ?? {};
    if (!this.#args.has(name) && value !== undefined) this.#args.set(name, value);
  }

  async #begin(rest: string): Promise<void> {
    const { image = '', name } = /^(?<image>\S+)(?: AS (?<name>\w+))?$/u.exec(rest)?.groups ?? {};
    const resolved = image.replaceAll(/\$\{(\w+)\}/gu, (_, arg: string) => this.#args.get(arg) ?? '');
    // This machine stands in for the base image.
    if (!/^[\w./-]+:[\w.-]+(?:@sha256:[0-9a-f]{64})?$/u.test(resolved)) throw new Error(`the base image "${resolved}" has no digest`);
    const root = path.join(this.#target, name ?? `stage-${String(this.#stages.length)}`);
    await mkdir(root, { recursive: true });
    const stage = { name: name ?? '', root, env: {}, volumes: [], labels: [], workdir: '/', user: 'root', command: [], healthCommand: [] };
    this.#stages.push(stage);
  }

  async #copy(stage: Stage, rest: string): Promise<void> {
    const words = rest.split(/\s+/u);
    const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
    const places = words.filter((word) => !word.startsWith('--'));
    const target = places.pop() ?? '';
    const source = this.#stages.find(({ name }) => name === from);
    if (from !== undefined && source === undefined) throw new Error(`there is no stage ${from} above`);
    for (const place of places) {
      const origin = source === undefined ? path.join(this.#context, place) : this.#inside(source, place);
      const isFolder = (await stat(origin)).isDirectory();
      const to = this.#inside(stage, target);
      // A folder is copied as its contents, a file under its name when the target ends in a slash or is the working folder.
      const destination = !isFolder && /(?:^\.|\/)$/u.test(target) ? path.join(to, path.basename(place)) : to;
      if (source !== undefined) {
        linkTree(origin, destination);
        continue;
      }
      const filter = (file: string): boolean => this.#mayCopy(file);
      if (!filter(origin)) throw new Error(`.dockerignore leaves ${place} out, which COPY asks for`);
      await cp(origin, destination, { recursive: true, filter, verbatimSymlinks: true });
    }
  }

  /** A folder is walked into when something inside it may enter, so only files are judged by themselves. */
  #mayCopy(file: string): boolean {
    return mayEnter(this.#dockerignore, path.relative(this.#context, file).split(path.sep).join('/'));
  }

  async #run(stage: Stage, command: string): Promise<void> {
    // It would touch this machine instead of the stage.
    if (/(?:^|\s)\//u.test(command)) throw new Error(`RUN with an absolute path cannot be tested: ${command}`);
    const env = { ...this.#env, ...stage.env };
    const done = promisify(execFile)('sh', ['-ec', this.#insteadOf.get(command) ?? command], {
      cwd: this.#inside(stage, '.'),
      env,
      maxBuffer: 16 * 1024 * 1024,
    });
    await done.catch((error: unknown) => {
      const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
      throw new Error(`RUN ${command} failed:\n${output}`, { cause: error });
    });
  }

  /** Where a path of the image lies on this machine. */
  #inside(stage: Stage, place: string): string {
    return path.join(stage.root, path.posix.resolve(stage.workdir, place));
  }

  #stage(): Stage {
    const stage = this.#stages.at(-1);
    if (stage === undefined) throw new Error('the Dockerfile must begin with FROM');
    return stage;
  }
}

/**
 * Puts what a stage has made into another one. Its files are linked and not copied: they are many thousand, and nobody looks at a
 * stage again when a later one has what it wants of it.
 */
function linkTree(origin: string, target: string): void {
  const found = lstatSync(origin);
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(origin), target);
  else if (found.isDirectory()) {
    mkdirSync(target, { recursive: true });
    for (const name of readdirSync(origin)) linkTree(path.join(origin, name), path.join(target, name));
  } else linkSync(origin, target);
}

function execForm(text: string): readonly string[] {
  const parsed: unknown = text.startsWith('[') ? JSON.parse(text) : undefined;
  if (!Array.isArray(parsed)) throw new Error(`a command must be in exec form, or signals do not reach the server: ${text}`);
  return parsed.map(String);
}

function unquoted(value: string): string {
  return value.replaceAll(/^"|"$/gu, '');
}
