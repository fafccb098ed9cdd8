// The checks and benchmarks that have a command of their own: `npm run check -- NAME` and `npm run bench -- NAME`.
import path from 'node:path';
import { run } from './with-packages.mjs';

/** @typedef {{ readonly file: string, readonly does: string }} NamedCommand - file: in this folder */

/** @type {Readonly<Record<string, NamedCommand>>} */
export const CHECKS = {
  ai: { file: 'check-ai.ts', does: 'assistants that are interrupted, whose models fail and whose servers die' },
  'barge-in': { file: 'check-barge-in.ts', does: 'how soon a prompt stops when the caller speaks' },
  changelog: { file: 'check-changelog.ts', does: 'commits that CHANGELOG.md says nothing of, as a draft' },
  conformance: { file: 'check-conformance.ts', does: 'the whole contract, and every broken server that must be found' },
  console: { file: 'check-console.ts', does: 'the pages in Chromium: the network off, a call of an hour, a screen reader' },
  dependencies: { file: 'check-dependencies.ts', does: 'how old the packages are that package.json names' },
  deploys: { file: 'check-deploys.ts', does: 'servers that are replaced one after the other under calls' },
  failover: { file: 'check-failover.ts', does: 'servers and Redis that die under calls' },
  faults: { file: 'check-faults.ts', does: 'everything around a server that can fail' },
  fuzz: { file: 'check-fuzz.ts', does: 'wrong input of every kind, from a kept corpus, under calls' },
  home: { file: 'check-home.ts', does: 'a balancer that sends every turn elsewhere' },
  licenses: { file: 'licenses.mjs', does: 'the licenses of all packages that the image has' },
  model: { file: 'check-model.ts', does: 'random calls in random orders against a reference' },
  ops: { file: 'check-ops.ts', does: 'every alert, every query of every dashboard beside real servers, and one organization that floods' },
  overload: { file: 'check-overload.ts', does: 'more calls than a server can take' },
  package: { file: 'check-package.ts', does: 'the package in the hands of a stranger, on Node 20, 22 and 24' },
  renewal: { file: 'check-renewal.ts', does: 'tokens that are renewed under calls' },
  replay: { file: 'check-replay.ts', does: 'recorded calls that must go the same way again' },
  scale: { file: 'check-scale.ts', does: 'servers that come, go and die at random under calls' },
  soak: { file: 'soak.ts', does: 'random calls for an hour: no breach, flat memory, nothing left behind' },
  store: { file: 'check-store.ts', does: 'a store that is killed while it writes' },
  upgrade: { file: 'check-upgrade.ts', does: "the last release's package beside today's, calls moving both ways" },
  walk: { file: 'check-walk.ts', does: 'how many files one spoken answer touches' },
};

/**
 * What `npm run bench` means without a name.
 *
 * @type {NamedCommand}
 */
export const ENGINE_BENCH = { file: 'bench-engine.ts', does: 'the server beside a bare pass-through of the same traffic' };

/** @type {Readonly<Record<string, NamedCommand>>} */
export const BENCHES = {
  engine: ENGINE_BENCH,
  capacity: { file: 'bench-capacity.ts', does: 'how many calls a core takes, and what further servers cost' },
  recording: { file: 'bench-recording.ts', does: 'what recording every call costs' },
  socket: { file: 'bench-socket.ts', does: 'the same over WebSocket' },
  speech: { file: 'bench-speech.ts', does: 'quality and cost of voice detection on a corpus' },
  turns: { file: 'bench-turns.ts', does: 'how long callers wait for an answer, and how many are cut off' },
  voice: { file: 'bench-voice.ts', does: 'how well the embedded voices are understood' },
  baseline: { file: 'bench-baseline.ts', does: 'what this machine can do at all' },
};

/**
 * A line for each command.
 *
 * @param {Readonly<Record<string, NamedCommand>>} commands
 * @param {string} verb - `check` or `bench`
 */
export function commandList(commands, verb) {
  const lines = Object.entries(commands).map(([name, { does }]) => `  npm run ${verb} -- ${name.padEnd(13)} ${does}\n`);
  return lines.join('');
}

/**
 * Runs one in our place.
 *
 * @param {NamedCommand} command
 * @param {readonly string[]} args
 */
export function runCommand({ file }, args) {
  process.exitCode = run('tsx', ['--conditions=@parley/source', path.join(import.meta.dirname, file), ...args]);
}
