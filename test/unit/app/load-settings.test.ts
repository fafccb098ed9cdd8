import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeSettings } from '../../../src/app/config/describe-settings.ts';
import { loadSettings, type LoadedSettings, type LoadOptions } from '../../../src/app/config/load-settings.ts';
import { AppError } from '../../../src/base/errors.ts';

// The least that makes the defaults valid.
const VALID = ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off'];
const SOURCE = {
  id: 'ds-1',
  organization_id: 'org-1',
  url: 'https://voice.example.com',
  audience: 'bots',
  subject: 'audio',
  nonce: 'NONCE-CANARY',
  transport: 'grpc',
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function load(options: LoadOptions): LoadedSettings {
  return loadSettings({ env: {}, cwd: folder, ...options });
}

function refusal(options: LoadOptions): string {
  try {
    load(options);
  } catch (error) {
    if (error instanceof AppError && error.code === 'config_invalid') return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

/** Where a default stands, as messages from another folder name it. */
function defaultLine(name: string): string {
  const file = join(import.meta.dirname, '../../../config/default.yaml');
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .findIndex((text) => text.startsWith(`  ${name}:`));
  return `${file}:${String(line + 1)}`;
}

function write(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return name;
}

describe('loadSettings', () => {
  it('takes every default from config/default.yaml', () => {
    const { settings } = load({ argv: VALID });
    expect(settings.grpc.port).toBe(8086);
    expect(settings.auth.keySet).toEqual({ timeoutMs: 3000, maxBytes: 65_536, cooldownMs: 30_000, staleMs: 86_400_000 });
    expect(settings.listen.terminator).toBe('#');
    expect(settings.bots).toEqual({ organizations: [], others: 'all', watch: false });
  });

  it.each([
    { given: [], value: 8086, origin: 'default' },
    { given: ['file'], value: 1001, origin: 'file' },
    { given: ['variable'], value: 1002, origin: 'environment' },
    { given: ['flag'], value: 1003, origin: 'flag' },
    { given: ['file', 'variable'], value: 1002, origin: 'environment' },
    { given: ['file', 'flag'], value: 1003, origin: 'flag' },
    { given: ['variable', 'flag'], value: 1003, origin: 'flag' },
    { given: ['file', 'variable', 'flag'], value: 1003, origin: 'flag' },
  ])('lets the later source win: default and $given give $value', ({ given, value, origin }) => {
    write('my.yaml', 'grpc:\n  port: 1001\n');
    const loaded = load({
      argv: [...VALID, ...(given.includes('file') ? ['--config', 'my.yaml'] : []), ...(given.includes('flag') ? ['--grpc.port=1003'] : [])],
      env: given.includes('variable') ? { PARLEY_GRPC_PORT: '1002' } : {},
    });
    expect(loaded.settings.grpc.port).toBe(value);
    expect(loaded.origin('grpc.port').kind).toBe(origin);
  });

  it('merges single keys: a file that sets one key of a section leaves the others alone', () => {
    write('my.yaml', 'sessions:\n  max: 7\n');
    const { settings } = load({ argv: [...VALID, '--config=my.yaml'] });
    expect(settings.sessions).toMatchObject({ max: 7, sweepMs: 60_000 });
  });

  it('replaces a list as a whole', () => {
    write('my.yaml', 'recognizer:\n  command: [one, two, three]\n');
    const { settings } = load({ argv: [...VALID, '--config', 'my.yaml', '--recognizer.command', 'other'] });
    expect(settings.recognizer.command).toEqual(['other']);
  });

  it('takes the file from PARLEY_CONFIG, and from --config when both name one', () => {
    write('a.yaml', 'grpc: { port: 1 }');
    write('b.json', '{ "grpc": { "port": 2 } }');
    const env = { PARLEY_CONFIG: 'a.yaml' };
    expect(load({ argv: VALID, env }).settings.grpc.port).toBe(1);
    expect(load({ argv: [...VALID, '--config', 'b.json'], env }).settings.grpc.port).toBe(2);
  });

  it('names the line of a value that came from a file', () => {
    write('my.yaml', '# first line\ngrpc:\n  reflection: false\n  port: 9\n');
    const loaded = load({ argv: [...VALID, '--config', 'my.yaml'] });
    expect(loaded.origin('grpc.port')).toEqual({ kind: 'file', file: join(folder, 'my.yaml'), line: 4 });
    expect(describeSettings(loaded).find((row) => row.key === 'grpc.port')).toEqual({
      key: 'grpc.port',
      value: 9,
      text: '9',
      origin: 'my.yaml:4',
      isDefault: false,
    });
  });

  it('accepts an empty file and sections whose keys are all commented out', () => {
    write('empty.yaml', '# nothing\n');
    write('bare.yaml', 'grpc:\n  # port: 1\nturns:\n');
    expect(load({ argv: [...VALID, '--config', 'empty.yaml'] }).settings.grpc.port).toBe(8086);
    expect(load({ argv: [...VALID, '--config', 'bare.yaml'] }).settings.grpc.port).toBe(8086);
  });

  it('freezes the settings in depth', () => {
    const { settings } = load({ argv: VALID, env: { PARLEY_AUTH_DATA_SOURCES: JSON.stringify([SOURCE]) } });
    const frozen = [settings, settings.grpc, settings.auth.keySet, settings.auth.dataSources, settings.auth.dataSources[0], settings.tls];
    expect(frozen.map((part) => Object.isFrozen(part))).toEqual(frozen.map(() => true));
  });

  it('starts relative paths at the folder of the file, the current folder or the package', () => {
    write('my.yaml', 'bots:\n  folder: bots\n');
    const loaded = load({ argv: [...VALID, '--config', join(folder, 'my.yaml'), '--bots.prompts_folder', 'wavs'], cwd: '/' });
    expect(loaded.settings.bots).toMatchObject({ folder: join(folder, 'bots'), promptsFolder: '/wavs' });
    expect(loaded.settings.synthesizer.cacheFolder).toBe(join(import.meta.dirname, '../../../cache/prompts'));
  });

  it('keeps a profile name as it is and makes a profile path absolute', () => {
    expect(load({ argv: [...VALID, '--platform.profile=fake'] }).settings.platform.profile).toBe('fake');
    expect(load({ argv: [...VALID, '--platform.profile=./p/mine.yaml'] }).settings.platform.profile).toBe(join(folder, 'p/mine.yaml'));
  });

  it('reads the process when nothing is given', () => {
    // The defaults ask for a certificate, and no test run sets one.
    expect(() => loadSettings()).toThrow(/tls\.certificate_file/u);
  });
});

describe('loadSettings with mistakes', () => {
  it('lists all of them at once, each with key, value, place, rule and remedy', () => {
    write('my.yaml', 'grpc:\n  prot: 1\n  keepalive_ms: soon\nsessions: 5\n');
    const message = refusal({
      argv: ['--config', 'my.yaml', '--turns.deadline_ms=5', '--gprc.port=1', 'stray'],
      env: { PARLEY_LOG_LEVEL: 'loud', PARLEY_GRPC_PROT: '2' },
    });
    expect(message.split('\n')).toEqual([
      '11 settings are wrong:',
      '  grpc.prot   (my.yaml:2)',
      '    rule: the key is not known',
      '    mend: did you mean grpc.port?',
      '  sessions   (my.yaml:4)',
      '    rule: must hold keys',
      '    mend: keys: max, reserved_percent, max_per_organization, max_new_per_s_per_organization, organizations, idle_timeout_ms, max_duration_ms, sweep_ms, max_snapshot_bytes',
      '  PARLEY_GRPC_PROT   (environment)',
      '    rule: the key is not known',
      '    mend: did you mean PARLEY_GRPC_PORT?',
      '  --gprc.port   (command line)',
      '    rule: the key is not known',
      '    mend: did you mean --grpc.port?',
      '  an argument   (argument 5)',
      '    rule: only flags are understood here: --section.key=value',
      '    mend: take it out',
      '  grpc.keepalive_ms = soon   (my.yaml:3)',
      '    rule: must be a whole number from 1000 to 7200000',
      '    mend: write a number within the bounds, digits only and without quotes',
      '  turns.deadline_ms = 5   (--turns.deadline_ms)',
      '    rule: must be a whole number from 100 to 600000',
      '    mend: write a number within the bounds, digits only and without quotes',
      '  log.level = loud   (PARLEY_LOG_LEVEL)',
      '    rule: must be one of trace, debug, info, warn, error, fatal, silent',
      '    mend: choose one of the listed words',
      `  auth.data_sources = []   (${defaultLine('data_sources')})`,
      '    rule: the token check needs at least one data source, otherwise it refuses every call',
      '    mend: add the values your data source was registered with (docs/config.md), set admin.enabled to true, or set auth.enabled to false on a loopback address',
      `  tls.certificate_file = ''   (${defaultLine('certificate_file')})`,
      '    rule: tls.mode files needs tls.certificate_file',
      '    mend: name the PEM file, or set tls.mode to off behind a TLS terminator',
      `  tls.key_file = ''   (${defaultLine('key_file')})`,
      '    rule: tls.mode files needs tls.key_file',
      '    mend: name the PEM file, or set tls.mode to off behind a TLS terminator',
    ]);
  });

  it.each([
    ['grpc.port', '65536'],
    ['grpc.port', '-1'],
    ['grpc.port', '80abc'],
    ['grpc.port', '8086.5'],
    ['grpc.port', '0x1F'],
    ['grpc.port', '1e3'],
    ['grpc.port', ''],
    ['grpc.max_message_bytes', '0'],
    ['websocket.max_message_bytes', '98303'],
    ['websocket.first_message_timeout_ms', '60001'],
    ['auth.clock_skew_ms', '30001'],
    ['auth.enabled', 'yes'],
    ['auth.enabled', 'TRUE'],
    ['auth.enabled', '0'],
    ['grpc.host', '[::1]'],
    ['grpc.host', 'two words'],
    ['grpc.host', ''],
    ['media.mode', 'stream'],
    ['listen.terminator', '##'],
    ['prompts.apology', 'a\tb'],
    ['prompts.language', 'english'],
    ['synthesizer.voices', '[{"language":"es"}]'],
    ['ops.service_name', 'a/b'],
    ['platform.extra_issuers', 'http://issuer.example.com'],
    ['platform.extra_issuers', 'issuer.example.com'],
    ['auth.data_sources', 'not json'],
    ['auth.data_sources', '{}'],
    ['auth.data_sources', '["text"]'],
  ])('refuses %s = %j', (key, value) => {
    expect(refusal({ argv: [...VALID, `--${key}=${value}`] })).toMatch(
      new RegExp(`^1 setting is wrong:\n  ${key.replace('.', '\\.')}`, 'u'),
    );
  });

  it.each(['grpc:\n  port: "8086"\n', 'grpc:\n  port: 80.5\n', 'grpc:\n  port:\n', 'grpc:\n  port: [1]\n', 'grpc:\n  port: { a: 1 }\n'])(
    'refuses a file whose value has the wrong type: %j',
    (content) => {
      write('my.yaml', content);
      expect(refusal({ argv: [...VALID, '--config', 'my.yaml'] })).toMatch(
        /^1 setting is wrong:\n {2}grpc\.port = .* \(my\.yaml:2\)\n {4}rule: must be a whole/u,
      );
    },
  );

  it('says nothing about a wrong value that a later source replaces', () => {
    write('my.yaml', 'grpc:\n  port: broken\n');
    expect(load({ argv: [...VALID, '--config', 'my.yaml', '--grpc.port=5'] }).settings.grpc.port).toBe(5);
  });

  it.each([
    { name: 'a missing file', file: 'none.yaml', rule: /readable \(ENOENT\)/u },
    { name: 'a folder', file: '.', rule: /readable \(EISDIR\)/u },
    { name: 'a repeated key', content: 'grpc:\n  port: 1\n  port: 2\n', rule: /\(my\.yaml:3\)\n.*YAML or JSON \(DUPLICATE_KEY\)/u },
    { name: 'broken YAML', content: 'grpc: {\n', rule: /YAML or JSON/u },
    { name: 'two documents', content: 'grpc: {}\n---\ngrpc: {}\n', rule: /MULTIPLE_DOCS/u },
    { name: 'a list at the top', content: '- grpc\n', rule: /my\.yaml.*\n.*must hold keys/u },
    { name: 'an unknown section', content: 'grcp:\n  port: 1\n', rule: /grcp {3}\(my\.yaml:1\)\n.*not known/u },
    {
      name: 'a prototype key',
      content: '__proto__:\n  port: 1\nconstructor: 1\n',
      rule: /__proto__.*\n.*not known[^]*constructor.*\n.*not known/u,
    },
    { name: 'a merge key', content: 'a: &a { port: 1 }\ngrpc:\n  <<: *a\n', rule: /grpc\.<< /u },
    { name: 'an alias that points nowhere', content: 'grpc:\n  port: *no\n', rule: /./u },
    { name: 'a file of more than 1 MiB', content: `# ${'x'.repeat(1_048_576)}`, rule: /at most 1048576 bytes/u },
  ])('refuses $name', ({ content, file, rule }) => {
    const named = file ?? write('my.yaml', content);
    expect(refusal({ argv: [...VALID, '--config', named] })).toMatch(rule);
  });

  it.each([
    { argv: ['--grpc.port'], rule: /--grpc\.port {3}\(command line\)\n {4}rule: the flag needs a value/u },
    { argv: ['--grpc.port', '--grpc.reflection'], rule: /--grpc\.port {3}\(command line\)\n {4}rule: the flag needs a value/u },
    { argv: ['--config'], rule: /--config {3}\(command line\)\n {4}rule: the flag needs a value/u },
    { argv: ['--port', '1'], rule: /--port {3}\(command line\)\n.*not known/u },
    { argv: ['-x'], rule: /only flags/u },
  ])('refuses the flags $argv', ({ argv, rule }) => {
    expect(refusal({ argv: [...VALID, ...argv] })).toMatch(rule);
  });

  it('takes a switch without a value for true, also before another flag', () => {
    expect(load({ argv: ['--media.reveal_prompt_text', ...VALID] }).settings.media.revealPromptText).toBe(true);
    expect(load({ argv: [...VALID, '--media.reveal_prompt_text'] }).settings.media.revealPromptText).toBe(true);
    expect(load({ argv: [...VALID, '--grpc.reflection', 'false'] }).settings.grpc.reflection).toBe(false);
  });

  it('leaves variables alone that the container platform makes for a service named parley', () => {
    const env = {
      PARLEY_SERVICE_HOST: '10.0.0.1',
      PARLEY_SERVICE_PORT_GRPC: '8086',
      PARLEY_PORT: 'tcp://10.0.0.1:8086',
      PARLEY_PORT_8086_TCP_ADDR: '10.0.0.1',
    };
    expect(load({ argv: VALID, env }).settings.grpc.port).toBe(8086);
  });
});

describe('loadSettings and secrets', () => {
  const withSources = (sources: unknown): LoadOptions => ({ argv: VALID, env: { PARLEY_AUTH_DATA_SOURCES: JSON.stringify(sources) } });

  it('reads a nonce in place or from a file, without its line end', () => {
    write('nonce', 'NONCE-CANARY\n');
    const { settings } = load(withSources([SOURCE, { ...SOURCE, id: 'ds-2', nonce: { file: 'nonce' }, previous_nonce: 'old' }]));
    expect(settings.auth.dataSources.map((source) => [source.nonce, source.previousNonce])).toEqual([
      ['NONCE-CANARY', undefined],
      ['NONCE-CANARY', 'old'],
    ]);
  });

  it('masks nonces in the rows of the effective configuration', () => {
    const rows = describeSettings(load(withSources([{ ...SOURCE, previous_nonce: 'OLD-CANARY' }])));
    const text = JSON.stringify(rows);
    expect(text).not.toMatch(/CANARY/u);
    expect(rows.find((row) => row.key === 'auth.data_sources')?.text).toContain(
      '"nonce":"****","transport":"grpc","previous_nonce":"****"',
    );
  });

  it.each([
    { name: 'a member with a mistyped name', sources: [{ ...SOURCE, nonce: undefined, nounce: 'CANARY' }] },
    { name: 'a nonce that is a number', sources: [{ ...SOURCE, nonce: 7_777_777 }] },
    { name: 'a nonce with a blank', sources: [{ ...SOURCE, nonce: 'CANARY CANARY' }] },
    { name: 'a nonce in a list', sources: [{ ...SOURCE, nonce: ['CANARY'] }] },
    { name: 'a list member that is no mapping', sources: ['CANARY'] },
    { name: 'a mapping in place of the list', sources: { nonce: 'CANARY' } },
    { name: 'text in place of the list', sources: 'CANARY' },
    { name: 'a nonce file with two words', sources: [{ ...SOURCE, nonce: { file: 'secret-file' } }] },
    { name: 'a previous nonce that equals the nonce', sources: [{ ...SOURCE, nonce: 'CANARY', previous_nonce: 'CANARY' }] },
  ])('never prints a secret: $name', ({ sources }) => {
    write('secret-file', 'CANARY CANARY');
    expect(refusal(withSources(sources))).not.toMatch(/CANARY|7777777/u);
  });

  it.each([
    `auth: { data_sources: [ { nonce: CANARY, nonce: CANARY } ] }`,
    `auth:\n  data_sources:\n    - nonce: 'CANARY\n`,
    `auth:\n  data_sources:\n    - nonce: *CANARY\n`,
    `auth:\n  data_sources:\n    - nonce: !CANARY x\n`,
    `nonce: CANARY\n`,
    `auth:\n  nonce: CANARY\n`,
    `auth: CANARY\n`,
    `CANARY`,
    `auth:\n  data_sources:\n    - "nonce": CANARY\n   broken`,
  ])('never quotes a file that holds a secret: %j', (content) => {
    write('my.yaml', content);
    expect(refusal({ argv: [...VALID, '--config', 'my.yaml'] })).not.toMatch(/CANARY/u);
  });

  it('never prints the value of an unknown variable, flag or argument', () => {
    const message = refusal({ argv: [...VALID, '--auth.nonce=CANARY', 'CANARY'], env: { PARLEY_AUTH_NONCE: 'CANARY' } });
    expect(message).toMatch(/^3 settings/u);
    expect(message).not.toMatch(/CANARY/u);
  });

  it('never quotes a secret and never fails in another way, whatever stands in a file', () => {
    const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
      leaf: fc.oneof(fc.constant('CANARY'), fc.constant('CANARY two'), fc.integer(), fc.boolean(), fc.constant(null)),
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        tie('leaf'),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom('nonce', 'previous_nonce', 'nonse', 'auth', 'data_sources', 'key_set', 'grpc', '__proto__'),
          tie('tree'),
          {
            maxKeys: 4,
          },
        ),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom('top', 'auth', 'list'), (content, where) => {
        const whole = where === 'top' ? content : { auth: where === 'auth' ? content : { data_sources: content } };
        write('my.json', JSON.stringify(whole));
        let message = '';
        try {
          load({ argv: [...VALID, '--config', 'my.json'] });
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'config_invalid') throw error;
          message = error.message;
        }
        // The sections offered here hold no plain text, so no text at all may be printed.
        expect(message).not.toContain('CANARY');
      }),
      { numRuns: 80 },
    );
  });

  it('names the line of a wrong member of a list', () => {
    write('my.yaml', 'auth:\n  data_sources:\n    - id: a\n      url: nowhere\n');
    expect(refusal({ argv: [...VALID, '--config', 'my.yaml'] })).toContain('auth.data_sources[0].url = nowhere   (my.yaml:4)');
  });

  it('names the file of a secret that cannot be read', () => {
    expect(refusal(withSources([{ ...SOURCE, nonce: { file: 'none' } }]))).toMatch(/nonce = \{"file":"none"\}[^]*ENOENT/u);
  });
});
