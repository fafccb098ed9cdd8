// docs/library.md shows examples that run: each is a file beside it, word by word.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/base/package-root.ts';

const DOCS = path.join(packageRoot(), 'docs');

it('docs/library.md holds every example of its folder as it is', () => {
  const page = readFileSync(path.join(DOCS, 'library.md'), 'utf8');
  const files = readdirSync(path.join(DOCS, 'examples', 'library'));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const code = readFileSync(path.join(DOCS, 'examples', 'library', file), 'utf8');
    expect(page).toContain(`<!-- examples/library/${file} -->\n\n\`\`\`ts\n${code}\`\`\`\n`);
  }
});
