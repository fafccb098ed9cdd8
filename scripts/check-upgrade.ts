// `npm run check -- upgrade`: does today's package stand beside the last release, and in its place? See scripts/upgrade.
import { command, progress } from './command-line.ts';
import { testUpgrades } from './upgrade/upgrades.ts';

const help = `Packs and installs the last release and today's sources, and lets them do everything that docs/upgrade.md promises of neighbouring
versions: calls move both ways when servers die and stop, and both read what the other has kept.

  npm run check -- upgrade    two minutes, with downloads

The last release is the last tag vN.N.N before this commit; until there is one, a commit that scripts/upgrade/last-release.ts names. Needs
Debian's redis-server and haproxy. The last line of stdout is JSON: {"ok","upgradesTested","last","failed"}; in a copy without its history
nothing is tested, and "skipped" says so. The exit code is 1 when something failed.
`;

await command({ help, options: {}, run: () => testUpgrades(progress) });
