// docs/bot-api.md shows examples that run. The step `generate` of `npm run check` demands that it is what its sources give.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BOT_API_PAGE, exampleTags } from '../../scripts/bot-api.mjs';

const ROOT = path.join(import.meta.dirname, '../..');
const EXAMPLES = path.join(ROOT, 'docs/examples');
const page = readFileSync(path.join(ROOT, BOT_API_PAGE), 'utf8');
const files = readdirSync(EXAMPLES).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

const withoutSpace = (text: string) => text.replace(/\s+/gu, '');

describe('docs/bot-api.md', () => {
  it('shows every example', () => {
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) expect(page).toContain(`(examples/${file})`);
  });

  it('shows in doc comments only code that stands in a file which is compiled and tested', () => {
    const code = files.map((file) => withoutSpace(readFileSync(path.join(EXAMPLES, file), 'utf8'))).join('');
    const tags = exampleTags(ROOT);
    expect(tags.map(({ name }) => name)).toContain('ladder');
    for (const tag of tags) expect(code, `the example of ${tag.name}`).toContain(withoutSpace(tag.code));
  }, 120_000);
});
