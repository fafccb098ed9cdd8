// Runs a tool of the locked packages, and installs them first when they are missing or not those of the lockfile:
//
//   node scripts/with-packages.mjs vitest run test/unit
//   node scripts/with-packages.mjs node scripts/check.mjs      (a script of ours that needs the packages)
//
// Works on an empty machine with Node and npm, so it may import nothing but Node itself.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const MODULES = path.join(ROOT, 'node_modules');
/** Holds the number of the process that installs, so that two at once do not take each other's files away. */
const LOCK = path.join(ROOT, '.installing-packages');
const LOCK_STALE_MS = 10 * 60_000;
const LOCK_POLL_MS = 500;
/** Pause between two lines about an install, which says nothing by itself. */
const PROGRESS_MS = 5000;

// A script that runs a tool imports `run`.
const [, started] = process.argv;
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));

/**
 * @param {readonly string[]} argv
 * @returns {Promise<number | undefined>} the exit code, or undefined when the tool runs and will set it
 */
async function main([bin, ...args]) {
  const problem =
    bin === undefined ? 'usage: node scripts/with-packages.mjs TOOL [ARGUMENT…]' : (nodeComplaint() ?? (await installIfNeeded()));
  if (bin !== undefined && problem === undefined) return run(bin, args);
  process.stderr.write(`${problem ?? ''}\n`);
  return 1;
}

/** @returns {string | undefined} what is wrong with this Node, in a sentence the user can act on */
function nodeComplaint() {
  /** @type {{ engines: { node: string } }} */
  const manifest = readJson(path.join(ROOT, 'package.json'));
  const floor = manifest.engines.node.replace(/^>=/u, '');
  const wanted = floor.split('.').map(Number);
  const present = process.versions.node.split('.').map(Number);
  const first = wanted.findIndex((part, index) => part !== present[index]);
  if (first === -1 || (present[first] ?? 0) > (wanted[first] ?? 0)) return undefined;
  return `Parley needs Node ${floor} or newer, and this is ${process.version} (${process.execPath}). Nothing was installed or started.`;
}

/** @returns {Promise<string | undefined>} what went wrong */
async function installIfNeeded() {
  if (packagesMatch()) return undefined;
  // npm ci empties the folder that a link points to, and that is somebody else's.
  if (lstatSync(MODULES, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    return (
      `${MODULES} is a link, and what it points to is not what package-lock.json says. Installing would empty that folder, ` +
      'so nothing was touched; remove the link and run this again, and the packages are installed here.'
    );
  }
  const until = Date.now() + LOCK_STALE_MS;
  while (!takeLock()) {
    if (Date.now() > until) return `another install holds ${LOCK}; remove that file if none is running`;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
  try {
    // Whoever held the lock before us may have done the work.
    return packagesMatch() ? undefined : await install();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

/**
 * Is node_modules what the lockfile says? npm writes its own list of what lies there at the end of every install, so a
 * missing, foreign or cut-off install differs.
 */
function packagesMatch() {
  const record = path.join(MODULES, '.package-lock.json');
  if (!existsSync(record)) return false;
  /** @typedef {{ version?: string, integrity?: string, optional?: boolean }} Locked */
  /** @type {{ packages: Record<string, Locked> }} */
  const wanted = readJson(path.join(ROOT, 'package-lock.json'));
  /** @type {{ packages: Record<string, Locked> }} */
  const present = readJson(record);
  const extra = Object.keys(present.packages).filter((name) => !(name in wanted.packages));
  const wrong = Object.entries(wanted.packages).filter(([name, { version, integrity, optional }]) => {
    const found = present.packages[name];
    // The root stands only in the lockfile; an optional package is left out where the machine cannot run it.
    if (found === undefined) return name !== '' && optional !== true;
    return found.version !== version || found.integrity !== integrity;
  });
  return extra.length + wrong.length === 0;
}

/** @returns {Promise<string | undefined>} what went wrong */
async function install() {
  process.stderr.write('Installing the locked packages (npm ci). This happens once and takes about a minute.\n');
  const [command, ...before] = npmCommand();
  // npm reports on stderr here: what the tool prints on stdout may be read by a program.
  const npm = spawn(command, [...before, 'ci', '--no-audit', '--no-fund'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    env: installEnvironment(),
  });
  const began = Date.now();
  const reporting = setInterval(() => {
    process.stderr.write(`  ${String(Math.round((Date.now() - began) / 1000)).padStart(3)} s  ${progressOfInstall()}\n`);
  }, PROGRESS_MS);
  /** @type {string | undefined} */
  const problem = await new Promise((resolve) => {
    npm.once('error', (error) => {
      resolve(`npm could not be started: ${error.message}`);
    });
    npm.once('exit', (code, signal) => {
      resolve(code === 0 ? undefined : `npm ci failed (${signal ?? `exit code ${String(code)}`}); its messages stand above.`);
    });
  });
  clearInterval(reporting);
  if (problem !== undefined) return problem;
  return packagesMatch() ? undefined : 'npm ci ended well, but node_modules is not what package-lock.json says; run `npm ci` manually.';
}

/** How many of the packages at the top of node_modules are there. npm makes their folders first and fills them later. */
function progressOfInstall() {
  /** @type {{ packages: Record<string, unknown> }} */
  const { packages } = readJson(path.join(ROOT, 'package-lock.json'));
  const top = Object.keys(packages).filter((name) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/u.test(name));
  const here = top.filter((name) => existsSync(path.join(ROOT, name, 'package.json')));
  return `${String(here.length)} of ${String(top.length)} packages`;
}

/**
 * The npm that started us, else the one beside this Node, else the one on the PATH.
 *
 * @returns {[string, ...string[]]}
 */
function npmCommand() {
  const beside = path.dirname(process.execPath);
  const candidates = [
    process.env['npm_execpath'] ?? '',
    path.join(beside, '../lib/node_modules/npm/bin/npm-cli.js'),
    path.join(beside, 'node_modules/npm/bin/npm-cli.js'),
  ];
  const script = candidates.find((file) => file.endsWith('npm-cli.js') && existsSync(file));
  return script === undefined ? ['npm'] : [process.execPath, script];
}

/** The tools are development packages, so a production setting around us must not leave those out. */
function installEnvironment() {
  const env = { ...process.env, npm_config_include: 'dev' };
  for (const name of ['NODE_ENV', 'npm_config_omit', 'npm_config_production']) Reflect.deleteProperty(env, name);
  return env;
}

function takeLock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  try {
    if (isRunning(Number(readFileSync(LOCK, 'utf8'))) && Date.now() - statSync(LOCK).mtimeMs < LOCK_STALE_MS) return false;
    // Renaming first: of several processes that see a lock left behind, one removes it and the others fail here.
    const aside = `${LOCK}.${String(process.pid)}`;
    renameSync(LOCK, aside);
    rmSync(aside);
  } catch {
    // It went away meanwhile; the next round finds it free.
  }
  return false;
}

/** @param {number} pid - 0 while the other process is still writing it */
function isRunning(pid) {
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Runs the tool in our place: its input, output, signals and exit code are ours.
 *
 * @param {string} bin
 * @param {readonly string[]} args
 * @returns {number | undefined} 1 when there is no such tool; undefined when it runs and will set the exit code
 */
export function run(bin, args) {
  const onWindows = process.platform === 'win32';
  const file = bin === 'node' ? process.execPath : path.join(MODULES, '.bin', onWindows ? `${bin}.cmd` : bin);
  if (!existsSync(file)) {
    process.stderr.write(`The locked packages have no tool named ${bin}.\n`);
    return 1;
  }
  const child = spawn(file, args, { stdio: 'inherit', shell: onWindows && bin !== 'node' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  process.on('SIGINT', () => {
    // Ctrl-C in a terminal reaches the tool by itself, and a second one would make many tools give up their clean end.
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  child.once('error', (error) => {
    process.stderr.write(`${bin} could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
  });
  return undefined;
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
