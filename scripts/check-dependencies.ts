// `npm run check -- dependencies`: how old the packages are that this one names itself, and what has come since. Asks the registry that
// npm is configured with.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { packageRoot } from '../src/base/package-root.ts';
import { command, type CommandResult } from './command-line.ts';

/** Packages asked for at once. */
const AT_ONCE = 8;
const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;
const VERSIONS = z.record(z.string(), z.string()).default({});
const MANIFEST = z.object({ dependencies: VERSIONS, optionalDependencies: VERSIONS, devDependencies: VERSIONS });
const VIEW = z.object({ version: z.string(), time: z.record(z.string(), z.string()) });

const help = `Prints each package that package.json names, the most outdated first: its version with its age, and the newest one with how many days
lie between the two.

  npm run check -- dependencies
  npm run check -- dependencies zod ws    only these

The last line of stdout is {"ok","dependencies","behind","oldestDays"}. It is a report: the exit code is 1 only when the registry that npm is
configured with does not answer ("unreachable").
`;

await command({ help, options: {}, takesWords: true, run: (_, names) => report(names) });

/** One package. */
interface Age {
  readonly name: string;
  readonly version: string;
  readonly newest: string;
  readonly days: number;
  readonly behindDays: number;
}

/** @param names - all when there are none. */
async function report(names: readonly string[]): Promise<CommandResult> {
  const manifest = MANIFEST.parse(JSON.parse(await readFile(path.join(packageRoot(), 'package.json'), 'utf8')));
  const direct = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies });
  const asked = direct.filter(([name]) => names.length === 0 || names.includes(name));
  const ages: Age[] = [];
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    try {
      ages.push(...(await Promise.all(asked.slice(at, at + AT_ONCE).map(([name, wanted]) => ageOf(name, wanted)))));
    } catch (error) {
      return { ok: false, unreachable: reasonOf(error) };
    }
  }
  ages.sort((one, other) => other.behindDays - one.behindDays || other.days - one.days);
  return {
    ok: true,
    dependencies: ages.length,
    behind: ages.filter(({ behindDays }) => behindDays > 0).length,
    oldestDays: Math.max(0, ...ages.map(({ days }) => days)),
    described: ages.map(lineOf),
  };
}

/** @param wanted - also of a package that is installed under another name, `npm:NAME@VERSION`. */
async function ageOf(name: string, wanted: string): Promise<Age> {
  const { real = name, version = '' } = /^(?:npm:(?<real>.+)@)?(?<version>[^@]+)$/u.exec(wanted)?.groups ?? {};
  const { stdout } = await promisify(execFile)('npm', ['view', real, 'version', 'time', '--json'], {
    ...{ cwd: packageRoot(), timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 },
  });
  const { version: newest, time } = VIEW.parse(JSON.parse(stdout));
  const dayOf = (each: string): number => Math.floor(Date.parse(time[each] ?? '') / DAY_MS);
  const [own, latest] = [dayOf(version), dayOf(newest)];
  return { name, version, newest, days: Math.floor(Date.now() / DAY_MS) - own, behindDays: Math.max(0, latest - own) };
}

function lineOf({ name, version, newest, days, behindDays }: Age): string {
  return `${name} ${version}, ${String(days)} days old${behindDays > 0 ? `; ${newest} came ${String(behindDays)} days later` : ''}`;
}

function reasonOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return /npm error code (?<code>\w+)/u.exec(said)?.groups?.['code'] ?? said.slice(0, 200);
}
