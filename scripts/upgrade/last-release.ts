// The version before today's: the last release by its tag or, as long as there is none, the commit from which compatibility is promised.
// It is packed by its own scripts and installed as users install it.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { Project } from '../package/project.ts';

/** Until the first tag. */
const PROMISED_FROM = '50549bec0f7f6a427b33bda23829437564eca6bb';
const NAME = 'parley-voice';
const QUIET = ['--no-audit', '--no-fund'];

/** A package in a folder of its own, with the bots of a fleet beside it. */
export class Installation {
  readonly project: Project;

  private constructor(project: Project) {
    this.project = project;
  }

  /** @param folder - of its own; made when it is not there. */
  static async of(tarball: string, folder: string): Promise<Installation> {
    const project = projectIn(folder);
    await mkdir(folder, { recursive: true });
    await cp(path.join(packageRoot(), 'test', 'fixtures', 'fleet-bots'), path.join(folder, 'bots'), { recursive: true });
    await project.passes(['npm', 'init', '--yes', '--init-type=module']);
    await project.passes(['npm', 'install', ...QUIET, tarball]);
    return new Installation(project);
  }

  /** Folder of the package. */
  get root(): string {
    return path.join(this.project.folder, 'node_modules', NAME);
  }

  /** The module that is started as `parley`. */
  get main(): string {
    return path.join(this.root, 'dist', 'src', 'cli', 'main.js');
  }

  /** Flags that name its copy of the bots. */
  get botFlags(): readonly string[] {
    return [`--bots.folder=${path.join(this.project.folder, 'bots')}`];
  }

  /** Runs `parley …`. @returns what it printed. @throws Error unless it ends well. */
  async parley(...argv: readonly string[]): Promise<string> {
    return (await this.project.passes([process.execPath, this.main, ...argv])).output;
  }
}

/** A project that is used with this process's Node. */
export function projectIn(folder: string): Project {
  return new Project(folder, path.dirname(process.execPath));
}

/** Its tag or commit; undefined in a copy without its history. */
export function lastRelease(): string | undefined {
  // Of a release itself, the one before it.
  return git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', 'HEAD^') ?? git('rev-parse', '--verify', `${PROMISED_FROM}^{commit}`);
}

/** Packs a commit, or the folder as it is now. @returns the absolute path of the package. */
export async function packed(target: string, commit?: string): Promise<string> {
  await mkdir(target, { recursive: true });
  const sources = commit === undefined ? packageRoot() : await sourcesOf(commit, path.join(target, 'sources'));
  const { output } = await projectIn(sources).passes([process.execPath, 'scripts/build.mjs', '--pack', '--to', target]);
  return output.trim().split('\n').at(-1) ?? '';
}

async function sourcesOf(commit: string, folder: string): Promise<string> {
  await mkdir(folder);
  const archive = execFileSync('git', ['archive', commit], { cwd: packageRoot(), maxBuffer: 256 * 1024 * 1024 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const [locked, present] = await Promise.all(
    [folder, packageRoot()].map((root) => readFile(path.join(root, 'package-lock.json'), 'utf8')),
  );
  if (locked === present) await symlink(path.join(packageRoot(), 'node_modules'), path.join(folder, 'node_modules'));
  else await projectIn(folder).passes(['npm', 'ci', ...QUIET]);
  return folder;
}

function git(...argv: readonly string[]): string | undefined {
  try {
    return execFileSync('git', argv, { cwd: packageRoot(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
