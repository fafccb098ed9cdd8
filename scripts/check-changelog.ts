// `npm run check -- changelog`: what CHANGELOG.md does not say yet of the commits since the last release, as a draft for a person, who
// knows which of them users can notice. With --release, the lines of one version.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot, packageVersion } from '../src/base/package-root.ts';
import { command, text, type CommandResult } from './command-line.ts';
import { draftOf, LOG_FORMAT, sectionOf, withoutLine } from './upgrade/changelog.ts';
import { lastRelease } from './upgrade/last-release.ts';

const CHANGELOG = 'CHANGELOG.md';

const help = `Lists the commits since the last release that users may notice (feat, fix, and those that break something) and that changed
nothing in ${CHANGELOG}: a draft, under the headings where their lines would stand.

  npm run check -- changelog
  npm run --silent check -- changelog --release v1.2.0    prints what the file says of this version, which must be the package's

The last line of stdout is {"ok","since","withoutLine","breakingWithoutLine"}. The exit code is 1 when a commit breaks something without a
line, or when the file says nothing of the version.
`;

await command({
  help,
  options: { release: text },
  run: ({ release }) => Promise.resolve(release === undefined ? draft() : printed(release)),
});

function printed(tag: string): CommandResult | undefined {
  const section = sectionOf(readFileSync(path.join(packageRoot(), CHANGELOG), 'utf8'), tag.replace(/^v/u, ''));
  if (tag !== `v${packageVersion()}`) return { ok: false, reason: `package.json has version ${packageVersion()}` };
  if (section === undefined) return { ok: false, reason: `${CHANGELOG} says nothing of ${tag}` };
  process.stdout.write(`${section}\n`);
  return undefined;
}

function draft(): CommandResult {
  const since = lastRelease();
  if (since === undefined) return { ok: true, skipped: 'this copy has no history: the last release is not in it' };
  const argv = ['log', '--no-merges', '--name-only', LOG_FORMAT, `${since}..HEAD`];
  const silent = withoutLine(execFileSync('git', argv, { cwd: packageRoot(), encoding: 'utf8' }), CHANGELOG);
  const breakingWithoutLine = silent.filter(({ kind }) => kind === 'breaking').length;
  return { ok: breakingWithoutLine === 0, since, withoutLine: silent.length, breakingWithoutLine, described: draftOf(silent) };
}
