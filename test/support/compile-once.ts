// For the tests that start processes: the program is compiled before the first of them, or several would do it at once.
import { compiledMain } from './compiled-program.ts';

export function setup(): void {
  compiledMain();
}
