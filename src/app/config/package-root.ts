// Finds the folder of the package, which holds config/, from the sources as well as from the build.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';

/**
 * The nearest folder above this file that holds `config/default.yaml`; absolute.
 *
 * @throws AppError `internal` when the installation is incomplete.
 */
export function packageRoot(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'config', 'default.yaml'))) return folder;
    if (folder === dirname(folder)) throw new AppError('internal', 'config/default.yaml is missing from the installation');
  }
}
