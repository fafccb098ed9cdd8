// Files made of the fake platform's own lists: the JSON Schema of scenario files, and which check proves which rule of the contract.
// Runs its sources in a process of their own; writes nothing itself.
import { execFileSync } from 'node:child_process';
import { formatted } from './formatted.mjs';

/** Where the schema lies, relative to the project. */
export const SCENARIO_SCHEMA = 'docs/scenario.schema.json';
/** Where the table of rules lies; it is not committed. */
export const CONFORMANCE_PAGE = 'docs/generated/conformance-rules.md';

/**
 * The whole schema. The same sources always give the same file.
 *
 * @param {string} root - of the project
 * @returns {Promise<string>}
 */
export function scenarioSchema(root) {
  const json = printed(root, 'scenario/schema.ts', 'JSON.stringify(module.scenarioJsonSchema())');
  return formatted(root, SCENARIO_SCHEMA, JSON.stringify(JSON.parse(json), undefined, 2));
}

/**
 * The table of rules as a page.
 *
 * @param {string} root - of the project
 */
export function conformancePage(root) {
  return `# Rules and the checks that prove them\n\n${printed(root, 'conformance/registry.ts', 'module.rulesTable()')}`;
}

/**
 * What an expression says of a module of the fake platform.
 *
 * @param {string} root
 * @param {string} file
 * @param {string} expression
 */
function printed(root, file, expression) {
  const flags = ['--import', 'tsx', '--conditions=@parley/source', '--input-type=module'];
  const source = `import * as module from './src/fake-platform/${file}'; console.log(${expression});`;
  return execFileSync(process.execPath, [...flags, '--eval', source], { cwd: root, encoding: 'utf8', timeout: 60_000 });
}
