// Modules of the source as plain JavaScript in a folder of their own: for child processes that must start fast, and many
// times.
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { packageRoot } from '../../src/base/package-root.ts';

/**
 * Compiles `modules` (paths below the project's root; what they import of ours must be among them) into a new folder that
 * finds the same packages. Whoever makes it removes it.
 */
export async function compiled(modules: readonly string[]): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-compiled-'));
  await symlink(path.join(packageRoot(), 'node_modules'), path.join(folder, 'node_modules'));
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  for (const module of modules) {
    const source = await readFile(path.join(packageRoot(), module), 'utf8');
    const { outputText } = ts.transpileModule(source, {
      fileName: module,
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, rewriteRelativeImportExtensions: true },
    });
    const target = path.join(folder, module.replace(/\.ts$/u, '.js'));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, outputText);
  }
  return folder;
}
