// config/default.yaml, which explains every key, and the schema say the same about each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { RULES } from '../../src/app/config/schema.ts';

const ROOT = join(import.meta.dirname, '../..');

interface DefaultKey {
  readonly key: string;
  readonly value: unknown;
  readonly comment: string;
}

function keysOf(node: unknown, prefix: string, inherited: string): readonly DefaultKey[] {
  if (!isMap(node)) throw new Error(`${prefix} is no section`);
  return node.items.flatMap((pair, index) => {
    if (!isScalar(pair.key)) throw new Error('a key is no text');
    const key = `${prefix}${String(pair.key.value)}`;
    // The parser hangs the comment above the first key of a mapping on the mapping.
    const comment = index === 0 ? inherited : (pair.key.commentBefore ?? '');
    if (isMap(pair.value)) return keysOf(pair.value, `${key}.`, pair.value.commentBefore ?? '');
    return [
      {
        key,
        value: isScalar(pair.value) ? pair.value.value : isSeq(pair.value) ? pair.value.toJSON() : undefined,
        comment: comment.replace(/\s+/gu, ' ').trim(),
      },
    ];
  });
}

const defaults = keysOf(parseDocument(readFileSync(join(ROOT, 'config/default.yaml'), 'utf8')).contents, '', '');

describe('config/default.yaml', () => {
  it('has exactly the keys of the schema, in the same order', () => {
    expect(defaults.map(({ key }) => key)).toEqual([...RULES.keys()]);
    expect(defaults.length).toBeGreaterThan(40);
  });

  it.each(defaults)('explains $key in a comment that ends with its rule', ({ key, comment }) => {
    const wants = RULES.get(key)?.wants ?? '';
    const said =
      key === 'auth.data_sources'
        ? 'nonce, previous_nonce (optional), transport (grpc or websocket, whose url is wss://HOST or wss://HOST:PORT)'
        : wants;
    expect(comment.toLowerCase()).toContain(said.toLowerCase());
    expect(comment.length).toBeGreaterThan(said.length + 20);
    expect(comment.endsWith('.')).toBe(true);
  });

  it.each(defaults)('gives $key a default that keeps its rule', ({ key, value }) => {
    const faults: unknown[] = [];
    RULES.get(key)?.read(value, { baseFolder: '/', path: [], refuse: (fault) => faults.push(fault) });
    expect(faults).toEqual([]);
  });
});

describe('config/example.production.yaml', () => {
  const file = join(ROOT, 'config/example.production.yaml');
  const dummySecrets = {
    PARLEY_ADMIN_INTEGRATION_CLIENT_SECRET: 'dummy',
    PARLEY_ADMIN_SERVICE_APP_CLIENT_SECRET: 'dummy',
    PARLEY_ADMIN_STORE_KEYS: JSON.stringify(['ab'.repeat(32)]),
  };

  it('is valid once its secrets are there', () => {
    const loaded = loadSettings({ argv: ['--config', file], env: dummySecrets, cwd: ROOT });
    expect(loaded.origin('tls.certificate_file')).toMatchObject({ kind: 'file' });
    expect(loaded.settings.auth.enabled).toBe(true);
    expect(loaded.settings.tls.mode).toBe('files');
  });

  it('holds no secret itself: what it lacks are the mounted secret files, and nothing else', () => {
    const problems = (): unknown => loadSettings({ argv: ['--config', file], env: {}, cwd: ROOT });
    expect(problems).toThrow(/^3 settings are wrong:[^]*store\.keys[^]*integration\.client_secret = [^]*service_app\.client_secret = /u);
  });
});
