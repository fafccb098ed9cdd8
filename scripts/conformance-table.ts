// Writes the table of rules into docs/conformance.md: `npx tsx scripts/conformance-table.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../src/base/package-root.ts';
import { rulesTable } from '../src/fake-platform/conformance/rules.ts';

const file = path.join(packageRoot(), 'docs/conformance.md');
const [start, end] = ['<!-- prettier-ignore-start -->', '<!-- prettier-ignore-end -->'];
const text = readFileSync(file, 'utf8');
writeFileSync(file, `${text.slice(0, text.indexOf(start))}${start}\n\n${rulesTable()}\n\n${text.slice(text.indexOf(end))}`);
