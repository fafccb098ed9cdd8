// The JSON Schema of scenario files, docs/scenario.schema.json, made of the schema that reads them. Writes nothing itself.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';

/** Where the schema lies, relative to the project. */
export const SCENARIO_SCHEMA = 'docs/scenario.schema.json';

const PRINT = `
import { scenarioJsonSchema } from './src/fake-platform/scenario/schema.ts';
console.log(JSON.stringify(scenarioJsonSchema()));
`;

/**
 * The whole file. The same sources always give the same file.
 *
 * @param {string} root - of the project
 * @returns {Promise<string>}
 */
export async function scenarioSchema(root) {
  const flags = ['--import', 'tsx', '--conditions=development', '--input-type=module'];
  const json = execFileSync(process.execPath, [...flags, '--eval', PRINT], { cwd: root, encoding: 'utf8', timeout: 60_000 });
  const options = await resolveConfig(path.join(root, SCENARIO_SCHEMA));
  return format(JSON.stringify(JSON.parse(json), undefined, 2), { ...options, parser: 'json' });
}
