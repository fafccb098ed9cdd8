// Pages show examples that run: each is a file of docs/examples, word by word.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/package-root.ts';

const DOCS = path.join(packageRoot(), 'docs');
const LIBRARY = readdirSync(path.join(DOCS, 'examples', 'library')).map((file) => `library/${file}`);

describe.each([
  ['library.md', LIBRARY],
  ['assistants.md', ['models.yaml']],
  ['voice.md', ['spanish.ts', 'local-speech.yaml']],
])('docs/%s', (name, files) => {
  it.each(files)('holds docs/examples/%s as it is', (file) => {
    const page = readFileSync(path.join(DOCS, name), 'utf8');
    const code = readFileSync(path.join(DOCS, 'examples', file), 'utf8');
    expect(page).toContain(`<!-- examples/${file} -->\n\n\`\`\`${path.extname(file).slice(1)}\n${code}\`\`\`\n`);
  });
});
