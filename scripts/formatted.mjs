// The layout of generated files: what `npm run format` would write.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { format } from 'oxfmt';

/**
 * @param {string} root - of the project
 * @param {string} file - its path in the project, which decides the language
 * @param {string} text
 * @throws {Error} when the text cannot be parsed
 */
export async function formatted(root, file, text) {
  const { ignorePatterns: _, ...options } = JSON.parse(readFileSync(path.join(root, '.oxfmtrc.json'), 'utf8'));
  const { code, errors } = await format(file, text, options);
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join(', ')}`);
  return code;
}
