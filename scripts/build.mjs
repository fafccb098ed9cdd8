// `npm run build`: compiles src/ and bots/ to dist/, and builds the pages of console/; with `-- --pack` also makes the package; `-- --site` makes the documentation instead. What lay there is removed first, or a
// module deleted from the source would live on in the build. The native compiler does in seconds what `typescript` needs half a
// minute for; that one stays for the linter and for scripts, which need its API. Types are checked by `npm run types` alone.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeConsole } from './console.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const HELP = `Compiles the program.

  npm run build                          to dist/
  npm run build -- --pack                and packs it: cache/package/parley-voice-VERSION.tgz, the package of npm create, the list of the
                                         packages that a server runs with (CycloneDX) and SHA256SUMS
  npm run build -- --pack --repository URL    names the sources in the packages, as npm asks of those with provenance
  npm run build -- --pack --to FOLDER    both there, and nothing here
  npm run build -- --site                the documentation alone: cache/site/index.html; fails on a link that leads nowhere
`;

const { values } = parseArgs({
  options: {
    ...{ pack: { type: 'boolean' }, site: { type: 'boolean' }, to: { type: 'string' } },
    ...{ repository: { type: 'string' }, help: { type: 'boolean' } },
  },
});
if (values.help === true) process.stdout.write(HELP);
else if (values.site === true) await site(values.to);
else await build(values.pack === true, values.to, values.repository);

/**
 * @param {boolean} isPacking
 * @param {string | undefined} folder - for everything that is made; default: the places above.
 * @param {string | undefined} repository - see `pack`
 */
async function build(isPacking, folder, repository) {
  const dist = path.resolve(folder ?? ROOT, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const compiler = path.join(ROOT, 'node_modules/typescript-native/bin/tsc');
  const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', dist], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
  if (status !== 0) return;
  await writeConsole(path.join(dist, 'console'));
  if (!isPacking) return;
  // Loaded here, because an image is built without it.
  const { pack } = await import('./pack.mjs');
  process.stdout.write(`${pack(dist, path.resolve(folder ?? path.join(ROOT, 'cache', 'package')), repository)}\n`);
}

/** @param {string | undefined} folder - default: the place above */
async function site(folder) {
  const target = path.resolve(folder ?? path.join(ROOT, 'cache', 'site'));
  const { buildSite } = await import('./site/site.mjs');
  process.stdout.write(`${path.join(target, 'index.html')}\n${JSON.stringify({ ok: true, ...buildSite(target) })}\n`);
}
