import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closest, toCamel, variableOf } from '../../../src/app/config/naming.ts';
import { KEYS_BY_VARIABLE, RULES } from '../../../src/app/config/schema.ts';
import { readEnvironment, readFlags } from '../../../src/app/config/sources.ts';

const keys = [...RULES.keys()];
const anyKey = fc.constantFrom(...keys);

describe('readFlags', () => {
  it('gives every key the value of its flag, attached or apart, and reports nothing', () => {
    fc.assert(
      fc.property(anyKey, fc.string(), fc.boolean(), (key, value, isAttached) => {
        fc.pre(isAttached || !value.startsWith('--'));
        const { given, problems } = readFlags(isAttached ? [`--${key}=${value}`] : [`--${key}`, value], '/here');
        expect(problems).toEqual([]);
        expect(given).toEqual([
          { key, raw: RULES.get(key)?.fromText(value), origin: { kind: 'flag', flag: `--${key}` }, baseFolder: '/here' },
        ]);
      }),
    );
  });

  it('accounts for every argument: no argument is lost without a word', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            anyKey.map((key) => `--${key}=1`),
            fc.string().map((name) => `--${name}`),
          ),
          { maxLength: 6 },
        ),
        (argv) => {
          const { given, problems, configFile } = readFlags(argv, '/');
          const consumedAtMost = 2 * (given.length + problems.length + (configFile === undefined ? 0 : 1));
          // Repeated flags share one value; everything else stands for itself.
          const repeated = argv.length - new Set(argv).size;
          expect(consumedAtMost + 2 * repeated).toBeGreaterThanOrEqual(argv.length);
        },
      ),
    );
  });

  it('lets the last one of a repeated flag win', () => {
    expect(readFlags(['--grpc.port=1', '--grpc.port=2'], '/').given.map((given) => given.raw)).toEqual([2]);
  });

  it('keeps line breaks and equals signs in a value', () => {
    expect(readFlags(['--prompts.apology=a=b\nc'], '/').given[0]?.raw).toBe('a=b\nc');
  });
});

describe('readEnvironment', () => {
  it('gives every key the value of its variable', () => {
    fc.assert(
      fc.property(anyKey, fc.string(), (key, value) => {
        const variable = variableOf(key);
        expect(readEnvironment({ [variable]: value }, '/here')).toEqual({
          given: [{ key, raw: RULES.get(key)?.fromText(value), origin: { kind: 'environment', variable }, baseFolder: '/here' }],
          problems: [],
        });
      }),
    );
  });

  it('refuses every other variable with our prefix and ignores those without it', () => {
    const suffix = fc.stringMatching(/^[A-Z_]{1,30}$/u);
    fc.assert(
      fc.property(suffix, (name) => {
        fc.pre(!KEYS_BY_VARIABLE.has(`PARLEY_${name}`) && !/SERVICE|PORT|CONFIG|DEMAND/u.test(name));
        expect(readEnvironment({ [`PARLEY_${name}`]: 'x' }, '/').problems).toHaveLength(1);
        expect(readEnvironment({ [name]: 'x', [`parley_${name}`]: 'x' }, '/')).toEqual({ given: [], problems: [] });
      }),
    );
  });

  it('has one variable per key', () => {
    expect(KEYS_BY_VARIABLE.size).toBe(RULES.size);
  });
});

describe('fromText', () => {
  it.each([
    ['grpc.port', '8443', 8443],
    ['grpc.port', '8443x', '8443x'],
    ['grpc.port', '99999999999999999999', '99999999999999999999'],
    ['grpc.reflection', 'false', false],
    ['grpc.reflection', 'no', 'no'],
    ['recognizer.command', '', []],
    ['recognizer.command', 'whisper, --fast', ['whisper', '--fast']],
    ['recognizer.command', '["a,b", "c"]', ['a,b', 'c']],
    ['auth.data_sources', '[{"id":1}]', [{ id: 1 }]],
    ['auth.data_sources', 'a,b', 'a,b'],
  ])('%s reads %j as %j', (key, text, value) => {
    expect(RULES.get(key)?.fromText(text)).toEqual(value);
  });
});

describe('names', () => {
  it.each([
    ['grpc.prot', 'grpc.port'],
    ['grpc.keep_alive_ms', 'grpc.keepalive_ms'],
    ['tls.pem', undefined],
    ['deadline_ms', 'turns.deadline_ms'],
    ['something.else.entirely', undefined],
    ['x'.repeat(200), undefined],
  ])('the closest key to %s is %s', (given, meant) => {
    expect(closest(given, keys)).toBe(meant);
  });

  it('turns snake_case into camelCase without collisions', () => {
    expect(toCamel('max_streams_per_connection')).toBe('maxStreamsPerConnection');
    expect(new Set(keys.map(toCamel)).size).toBe(keys.length);
  });
});
