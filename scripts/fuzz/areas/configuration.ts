// Configurations: a file in YAML; its lines `#env NAME=VALUE` and `#flag --key=value` are what stands beside it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { configInvalid } from '../../../src/app/config/problems.ts';
import { checkSettings } from '../../../src/app/config/load-settings.ts';
import { RULES } from '../../../src/app/config/schema.ts';
import { AppError } from '../../../src/base/errors.ts';
import { packageRoot } from '../../../src/base/package-root.ts';
import { reactionOf, type Area, type Reaction } from '../area.ts';
import { drawn, mutated, mutatedParts, mutatedText } from '../mutations.ts';

/** Stands where secrets do. */
const CANARY = 'CANARY-1f0c';

const WHOLE = `auth:
  data_sources:
    - { id: a, organization_id: o, url: "https://a.example", audience: x, subject: y, nonce: ${CANARY}, transport: grpc }
grpc: { host: 127.0.0.1, port: 0 }
tls: { mode: files, certificate_file: a.pem, key_file: b.pem }
store: { keys: "${'0a'.repeat(32)}" }
#env PARLEY_LOG_LEVEL=debug
#flag --ops.port=0
`;

export function configuration(): Area {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-fuzz-'));
  const defaults = readFileSync(path.join(packageRoot(), 'config', 'default.yaml'), 'utf8').replace(/^\s*#.*\n/gmu, '');
  const keys = [...RULES.keys()];
  return {
    name: 'configuration',
    seeds: [
      WHOLE,
      'auth: { enabled: false }\ngrpc: { host: 127.0.0.1 }\ntls: { mode: "off" }\n',
      defaults,
      '#flag --config=other.yaml\n',
    ].map((text) => Buffer.from(text)),
    mutate: (input, random, other) => {
      const text = input.toString();
      if (random() < 0.2) return mutated(input, random, other);
      if (random() < 0.3) return Buffer.from(`${text}${withKey(drawn(keys, random) ?? '', text, random)}`);
      if (random() < 0.5) return Buffer.from(mutatedText(text, random));
      const change = (part: Buffer): Buffer => Buffer.from(mutatedText(part.toString(), random));
      return Buffer.from(mutatedParts(linesOf(text), random, linesOf(other.toString()), change).map(String).join('\n'));
    },
    read: (input) => read(input.toString(), folder),
    close: () => {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

function linesOf(text: string): readonly Buffer[] {
  return text.split('\n').map((line) => Buffer.from(line));
}

/** A key set on a line of its own: in the file, as a variable or as a flag; with a value that stands somewhere else. */
function withKey(key: string, text: string, random: () => number): string {
  const value = drawn([...text.matchAll(/: ?([^\s,{}]+)/gu)], random)?.[1] ?? 'true';
  const [section = '', ...names] = key.split('.');
  if (random() < 0.4) return `\n#flag --${key}=${value}\n`;
  if (random() < 0.4) return `\n#env PARLEY_${key.toUpperCase().replaceAll('.', '_')}=${value}\n`;
  return `\n${section}: ${names.map((name) => `{ ${name}: `).join('')}${value}${' }'.repeat(names.length)}\n`;
}

function read(text: string, folder: string): Promise<Reaction> {
  const env: Record<string, string> = { HOME: folder };
  const argv = [`--config=${path.join(folder, 'parley.yaml')}`];
  for (const [, kind, value = ''] of text.matchAll(/^#(env|flag) (.*)$/gmu)) {
    if (kind === 'flag') argv.push(value);
    else if (value.includes('=')) env[value.slice(0, value.indexOf('='))] = value.slice(value.indexOf('=') + 1);
  }
  writeFileSync(path.join(folder, 'parley.yaml'), text);
  return reactionOf(
    () => {
      const { problems, loaded } = checkSettings({ argv, env, cwd: folder });
      if (loaded !== undefined) return 'valid';
      // Every problem says what is meant, and what to do.
      const mute = problems.find(({ subject, rule, mend }) => subject === '' || rule === '' || mend === '');
      if (mute !== undefined || problems.length === 0) throw new TypeError('a problem says too little');
      const shown = problems.find(
        (problem) => RULES.get(problem.subject)?.holdsSecrets === true && problem.shown?.includes(CANARY) === true,
      );
      if (shown !== undefined) throw new TypeError('a problem shows a secret');
      const [first = ''] = problems.map(({ rule }) => rule.replaceAll(/\d+|\(.*\)|"[^"]*"/gu, '')).sort();
      return `${configInvalid(problems).code} ${first}`;
    },
    (thrown) => (thrown instanceof AppError && thrown.code !== 'internal' ? thrown.code : undefined),
  );
}
