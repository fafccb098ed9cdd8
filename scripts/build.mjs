// `npm run build`: compiles src/ and bots/ to dist/; with `-- --pack` also makes the package in cache/package/. What lay there is removed first, or a module deleted from the source
// would live on in the build. The native compiler does in seconds what `typescript` needs half a minute for; that one stays
// for the linter and for scripts, which need its API.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');

rmSync(path.join(ROOT, 'dist'), { recursive: true, force: true });
const compiler = path.join(ROOT, 'node_modules/typescript-native/bin/tsc');
const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
if (status === 0 && process.argv.includes('--pack')) {
  // Loaded here, because an image is built without it.
  const { pack } = await import('./pack.mjs');
  process.stdout.write(`${pack()}\n`);
}
