// Writes what is generated: the TypeScript types of proto/ to src/contract/gen, docs/bot-api.md, docs/public-types.txt,
// docs/scenario.schema.json, deploy/grafana and the rules for the Prometheus operator, which are committed, and docs/generated, which is
// not. The folder of the types is deleted first; nothing that is written depends on time or machine.
// Knows the message names of the platform; that is why the neutral names in gen/wire.ts are made here.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BOT_API_PAGE, botApiPage } from './bot-api.mjs';
import { DASHBOARDS, dashboardFiles } from './dashboards.mjs';
import { fileDescriptors } from './descriptors.mjs';
import { CONFORMANCE_PAGE, conformancePage, SCENARIO_SCHEMA, scenarioSchema } from './fake-platform-pages.mjs';
import { PROMETHEUS_RULE, prometheusRule } from './prometheus-rule.mjs';
import { PROTOCOL_PAGE, protocolPage } from './protocol-table.mjs';
import { PUBLIC_TYPES, publicTypes } from './public-types.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const PROTOS = ['voicevirtualagent.proto', 'health.proto'];

// What the generated types must agree with: LOADER_OPTIONS in src/contract/grpc.ts.
const LOADER_FLAGS = ['--keepCase', '--longs=Number'];

// Neutral name in gen/wire.ts → message whose decoded form it is. Well-known types of the protobuf project included.
const MESSAGES = {
  DecodedAgent: 'VirtualAgentInfo',
  DecodedHealthRequest: 'HealthCheckRequest',
  DecodedHealthResponse: 'HealthCheckResponse',
  DecodedInputHandling: 'InputHandlingConfig',
  DecodedListAgentsRequest: 'ListVARequest',
  DecodedListAgentsResponse: 'ListVAResponse',
  DecodedPrompt: 'Prompt',
  DecodedRequest: 'VoiceVARequest',
  DecodedResponse: 'VoiceVAResponse',
  DecodedStruct: 'Struct',
  DecodedValue: 'Value',
};

// Neutral name in gen/wire.ts → enum, with the message that holds it where there is one.
const ENUMS = {
  DTMF_DIGITS: 'DTMFDigits',
  EVENT_INPUT: 'EventInput_EventType',
  EVENT_OUTPUT: 'OutputEvent_EventType',
  INPUT_MODE: 'VoiceVAInputMode',
  RESPONSE_TYPE: 'VoiceVAResponse_ResponseType',
  SERVING_STATUS: 'HealthCheckResponse_ServingStatus',
  VOICE_ENCODING: 'VoiceInput_VoiceEncoding',
};

/** @param {string} outDir - absolute path of the folder to replace */
function generate(outDir) {
  const tool = createRequire(import.meta.url).resolve('@grpc/proto-loader/build/bin/proto-loader-gen-types.js');
  rmSync(outDir, { recursive: true, force: true });
  execFileSync(
    process.execPath,
    [
      tool,
      ...LOADER_FLAGS,
      '--includeComments',
      '--grpcLib=@grpc/grpc-js',
      '--importFileExtension=.ts',
      `--outDir=${outDir}`,
      '--includeDirs=proto',
      '--',
      // Relative names and a fixed working folder: the tool writes the path of the proto into each file.
      ...PROTOS,
    ],
    { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  writeFileSync(path.join(outDir, 'wire.ts'), neutralNames(outDir));
  writeFileSync(path.join(outDir, 'descriptors.ts'), descriptorList());
}

/** The descriptors as a module, because a binary file would have to be found at run time and copied by the build. */
function descriptorList() {
  const lines = fileDescriptors(PROTOS.map((proto) => path.join(ROOT, 'proto', proto))).map((base64) => `  '${base64}',`);
  return [
    '// File descriptors for server reflection, what is imported first, in base64. Written by scripts/generate.mjs.',
    'export const FILE_DESCRIPTORS: readonly string[] = [',
    ...lines,
    '];',
    '',
  ].join('\n');
}

/**
 * The one generated file the rest of the code imports: the platform's names stay behind it.
 * @param {string} outDir
 */
function neutralNames(outDir) {
  const files = readdirSync(outDir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.split(path.sep).join('/'))
    .sort();
  const lines = ['// Neutral names for the generated types and enums. Written by scripts/generate.mjs.'];
  for (const [neutral, message] of Object.entries(MESSAGES)) {
    lines.push(`export type { ${message}__Output as ${neutral} } from './${only(files, message)}';`);
  }
  for (const [neutral, name] of Object.entries(ENUMS)) {
    const [holder = name] = name.split('_');
    const file = only(files, holder);
    // An enum inside a message carries the whole package in its generated name.
    const declared = new RegExp(`^export const (\\w*\\b${name}|\\w+_${name}) = `, 'm').exec(readFileSync(path.join(outDir, file), 'utf8'));
    if (declared === null) throw new Error(`${file} declares no enum ${name}`);
    lines.push(`export { ${String(declared[1])} as ${neutral} } from './${file}';`);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * @param {readonly string[]} files
 * @param {string} message
 */
function only(files, message) {
  const [file, ...more] = files.filter((candidate) => path.posix.basename(candidate) === `${message}.ts`);
  if (file === undefined || more.length > 0) throw new Error(`expected one generated file for ${message}`);
  return file;
}

generate(path.join(ROOT, 'src/contract/gen'));
writeFileSync(path.join(ROOT, BOT_API_PAGE), await botApiPage(ROOT));
writeFileSync(path.join(ROOT, PUBLIC_TYPES), publicTypes(ROOT));
writeFileSync(path.join(ROOT, SCENARIO_SCHEMA), await scenarioSchema(ROOT));
mkdirSync(path.join(ROOT, path.dirname(CONFORMANCE_PAGE)), { recursive: true });
writeFileSync(path.join(ROOT, PROTOCOL_PAGE), protocolPage(ROOT));
writeFileSync(path.join(ROOT, CONFORMANCE_PAGE), conformancePage(ROOT));
mkdirSync(path.join(ROOT, DASHBOARDS), { recursive: true });
for (const [file, text] of await dashboardFiles(ROOT)) writeFileSync(path.join(ROOT, file), text);
writeFileSync(path.join(ROOT, PROMETHEUS_RULE), await prometheusRule(ROOT));
