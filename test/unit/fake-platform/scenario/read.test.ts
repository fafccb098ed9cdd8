import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { readScenarios, type Place } from '../../../../src/fake-platform/scenario/read.ts';
import { scenarioJsonSchema } from '../../../../src/fake-platform/scenario/schema.ts';

/** Problems as `line:column field: message`. */
function problemsOf(text: string): readonly string[] {
  const read = readScenarios(text);
  return 'file' in read
    ? []
    : read.problems.map(({ at, field, message }) => `${String(at.line)}:${String(at.column)} ${field}: ${message}`);
}

/** A file with one test that has these lines. */
function oneTest(...lines: readonly string[]): string {
  return ['tests:', '  - name: one', ...lines.map((line) => `    ${line}`)].join('\n');
}

const SAMPLE = `# a comment
defaults: { agent: front-desk }
tests:
  - name: first
    welcome: { heard: [welcome, /press \\d/i] }
    steps:
      - press: '1'
        interrupt_after_ms: 400
        expect: { prompts: { at_least: 1 }, latency_below_ms: 800 }
      - hang_up: true

  - name: second
    line: { jitter_ms: 40, slow_reader: { pause_ms: 200 } }
    expect: { ends: transferred, with_data: { summary: /hours/, deep: [1, { a: null }] }, allowed_findings: [chunk_size] }
`;

describe('files of scenarios', () => {
  it('are read with the line of each test, from YAML and from JSON', () => {
    const read = readScenarios(SAMPLE);
    if (!('file' in read)) throw new Error(JSON.stringify(read.problems));
    expect([0, 1].map((index) => read.placeOf(['tests', index]))).toEqual([
      { line: 4, column: 5 },
      { line: 12, column: 5 },
    ]);
    expect(read.placeOf(['tests', 0, 'steps', 0, 'interrupt_after_ms'])).toEqual({ line: 8, column: 9 });
    expect(read.file.tests.map(({ name }) => name)).toEqual(['first', 'second']);
    const json = readScenarios(JSON.stringify(read.file, undefined, '\t'));
    expect('file' in json && json.file).toEqual(read.file);
  });

  it.each([
    ['', '1:1 : a file must be written as fields: $schema, defaults, tests'],
    ['tests: []', '1:1 tests: a file holds at least one test'],
    ['tests: one', '1:1 tests: write a list of tests'],
    ['tests: [}', '1:9 : this is no YAML or JSON: '],
    ['a: 1\na: 2', '2:1 : this is no YAML or JSON: Map keys must be unique'],
    ['tests: *nobody', '1:1 : an alias points nowhere'],
    ['tests: &a [*a]', '1:1 : an alias points nowhere'],
    [oneTest('stepz: []'), '3:5 tests[0].stepz: unknown field "stepz"; a test has name, agent,'],
    [oneTest('steps:', '  - press: 1'), '4:9 tests[0].steps[0].press: write a text; one that looks like a number goes in quotes'],
    [oneTest('steps:', '  - press: 12x'), '4:9 tests[0].steps[0].press: keys are 0 to 9'],
    [oneTest('steps:', '  - {}'), '4:9 tests[0].steps[0]: a step does exactly one of say, wav,'],
    [oneTest('steps:', '  - say: a', '    wav: b'), '4:9 tests[0].steps[0]: a step does exactly one of'],
    [oneTest('steps:', '  - stay_silent: no'), '4:9 tests[0].steps[0].stay_silent: write true, or leave it out'],
    [oneTest('steps:', '  - hang_up: true', '  - say: bye'), '5:9 tests[0].steps[1]: nothing can follow hang_up'],
    [
      oneTest('steps:', '  - say: a', '    interrupt_at: b', '    interrupt_after_ms: 1'),
      '5:9 tests[0].steps[0].interrupt_at: give interrupt_after_ms or',
    ],
    [oneTest('expect:', '  heard: /(/'), '4:7 tests[0].expect.heard: "/(/" is no regular expression'],
    [oneTest('expect:', '  heard: [a, /(/]'), '4:18 tests[0].expect.heard[1]: "/(/" is no regular expression'],
    [oneTest('expect:', '  with_data: { a: /(/ }'), '4:20 tests[0].expect.with_data.a: "/(/" is no regular expression'],
    [
      oneTest('expect:', '  prompts: { at_lest: 1 }'),
      '4:18 tests[0].expect.prompts.at_lest: unknown field "at_lest"; a number of prompts has at_least, at_most',
    ],
    [
      oneTest(`session: { parameters: { a: ${'['.repeat(32)}${']'.repeat(32)} } }`),
      '3:16 tests[0].session.parameters: free data nests deeper than 32 levels',
    ],
    [oneTest('pace: 51'), '3:5 tests[0].pace: give a number from 1 to 50'],
    [oneTest('expect:', '  ends: failed'), '4:7 tests[0].expect.ends: write one of transferred, ended, hung_up, lost'],
    [oneTest('expect:', '  allowed_findings: [everything]'), '4:26 tests[0].expect.allowed_findings[0]: there is no such finding'],
    [oneTest('line: { jitter_ms: 5000 }'), '3:13 tests[0].line.jitter_ms: give at most 2000 ms'],
    [
      oneTest('line: { slow_reader: { bytes_per_second: 999 } }'),
      '3:28 tests[0].line.slow_reader.bytes_per_second: give at least 1000 bytes per second',
    ],
    [oneTest('steps: [{ stay_silent: true, interrupt_at: a }]'), '3:15 tests[0].steps[0].stay_silent: silence interrupts nothing'],
    [oneTest('without_defaults: [stepz]'), '3:24 tests[0].without_defaults[0]: there is no such setting, nor such an expectation'],
    [oneTest('flow_events: [{ name: a }]'), '3:19 tests[0].flow_events[0].at_ms: give whole milliseconds'],
    [oneTest('limits: { call_ms: 1.5 }'), '3:15 tests[0].limits.call_ms: give whole milliseconds'],
    ['tests:\n  - name: a\n  - name: a', '3:5 tests[1].name: another test of this file has the same name'],
  ])('are refused with the place: %j', (text, problem) => {
    expect(problemsOf(text)[0]?.startsWith(problem), problemsOf(text)[0]).toBe(true);
  });

  it('finds every problem, and each in its line', () => {
    const text = oneTest('agent: 7', 'steps:', '  - press: "1"', '    expect: { herd: x }', '  - wait_ms: -1');
    expect(problemsOf(text).map((problem) => problem.split(': ')[0])).toEqual([
      '3:5 tests[0].agent',
      '6:19 tests[0].steps[0].expect.herd',
      '7:9 tests[0].steps[1].wait_ms',
    ]);
  });

  it('are accepted or refused with a place within the text, whatever they hold', () => {
    const names = ['tests', 'name', 'steps', 'press', 'expect', 'heard', 'line', '__proto__', 'constructor', 'x'];
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(null, true, 1, -1.5, '', '1', '/(/', NaN),
        fc.string(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom(
          '- ',
          'a',
          ': ',
          '\n',
          '  ',
          '[',
          '{',
          '}',
          ']',
          '&a ',
          '*a',
          '!!map ',
          '? ',
          '"',
          "'",
          '|',
          '#',
          '%YAML 1.1\n---\n',
        ),
      }),
      tree.map((value) => JSON.stringify(value)),
      tree.map((value) => stringify({ tests: [{ name: 'a', steps: value, expect: value, line: value }] })),
      fc
        .tuple(fc.nat(SAMPLE.length), fc.nat(20), fc.string())
        .map(([at, length, put]) => SAMPLE.slice(0, at) + put + SAMPLE.slice(at + length)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const read = readScenarios(text);
        const lines = text.split('\n');
        const isWithin = ({ line, column }: Place): boolean =>
          line >= 1 && line <= lines.length && column >= 1 && column <= (lines[line - 1] ?? '').length + 1;
        if ('file' in read) return read.file.tests.every((_, index) => isWithin(read.placeOf(['tests', index])));
        return read.problems.every(({ at, message }) => isWithin(at) && message !== '');
      }),
      { numRuns: 40 },
    );
  });

  it('have a schema that describes every field and knows no others', () => {
    const nameless: string[] = [];
    const look = (schema: unknown, place: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { properties, items, anyOf } = schema as { properties?: Record<string, unknown>; items?: unknown; anyOf?: readonly unknown[] };
      if (properties !== undefined) expect(schema, place).toHaveProperty('additionalProperties', false);
      for (const [name, field] of Object.entries(properties ?? {})) {
        if (typeof field === 'object' && field !== null && !('description' in field)) nameless.push(`${place}.${name}`);
        look(field, `${place}.${name}`);
      }
      look(items, `${place}[]`);
      for (const way of anyOf ?? []) look(way, place);
    };
    look(scenarioJsonSchema(), '');
    expect(nameless).toEqual([]);
    const committed: unknown = JSON.parse(readFileSync(path.join(packageRoot(), 'docs/scenario.schema.json'), 'utf8'));
    expect(committed, 'run `npm run generate`').toEqual(scenarioJsonSchema());
  });

  it('have a schema that refuses what the command refuses, as far as a schema can', () => {
    const text = JSON.stringify(scenarioJsonSchema());
    const field = (name: string): Record<string, unknown> => {
      const found = new RegExp(`"${name}":(?<schema>\\{[^{}]*\\})`, 'u').exec(text)?.groups?.['schema'];
      return JSON.parse(found ?? '{}') as Record<string, unknown>;
    };
    expect(field('press')).toMatchObject({ pattern: '^[0-9*#A-Da-d]+$', minLength: 1, maxLength: 64 });
    expect(field('jitter_ms')).toMatchObject({ minimum: 0, maximum: 2000 });
    expect(field('burst_ms')).toMatchObject({ minimum: 0, maximum: 2000 });
    expect(field('pause_ms')).toMatchObject({ minimum: 0, maximum: 30_000 });
    expect(field('bytes_per_second')).toMatchObject({ minimum: 1000 });
    expect(field('pace')).toMatchObject({ minimum: 1, maximum: 50 });
    for (const pair of ['"interrupt_after_ms","interrupt_at"', '"interrupt_at","stay_silent"', '"interrupt_after_ms","stay_silent"'])
      expect(text).toContain(`{"not":{"required":[${pair}]}}`);
    expect(text).toContain('"oneOf":[{"required":["say"]},{"required":["wav"]}');
  });

  it.each<readonly [boolean, string]>([
    [true, SAMPLE],
    [true, oneTest('steps: [{ press: "12#" }, { say: hello, interrupt_after_ms: 300 }, { hang_up: true }]')],
    [false, oneTest('agnet: x')],
    [false, oneTest('steps: [{ press: "12x" }]')],
    [false, oneTest('steps: [{ say: hello, wav: hello.wav }]')],
    [false, oneTest('steps: [{ press: "1", interrupt_after_ms: 300, interrupt_at: menu }]')],
    [false, oneTest('steps: [{ wait_ms: -1 }]')],
    [false, oneTest('line: { jitter_ms: 5000 }')],
    [false, oneTest('line: { slow_reader: { bytes_per_second: 10 } }')],
    [false, oneTest('pace: 200')],
    [false, oneTest('expect: { ends: never }')],
    [false, 'tests: []'],
    [false, 'testz: [{ name: one }]'],
  ])('are judged %s alike by the schema and by the command: %s', (isFine, text) => {
    const validate = new Ajv2020({ strict: false }).compile(scenarioJsonSchema());
    expect([validate(parse(text)), problemsOf(text).length === 0], JSON.stringify(validate.errors)).toEqual([isFine, isFine]);
  });

  it('have a page that names every field, and whose example is one', () => {
    const page = readFileSync(path.join(packageRoot(), 'docs/scenarios.md'), 'utf8');
    const names = [
      ...JSON.stringify(scenarioJsonSchema()).matchAll(/"properties":\{"|"(?<name>[a-z_]+)":\{"(?:type|anyOf|description|\$ref)"/gu),
    ]
      .flatMap(({ groups }) => groups?.['name'] ?? [])
      .filter((name) => !['items', 'additionalProperties', 'name'].includes(name));
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
    const examples = [...page.matchAll(/^```yaml\n(?<text>[\s\S]*?)^```/gmu)].map(({ groups }) => groups?.['text'] ?? '');
    expect(examples.map(problemsOf)).toEqual([[]]);
  });

  it('of the bundled bots name the schema, so that editors complete them', () => {
    const folder = path.join(packageRoot(), 'bots/scenarios');
    for (const file of readdirSync(folder)) {
      expect(readFileSync(path.join(folder, file), 'utf8'), file).toMatch(
        /^# yaml-language-server: \$schema=..\/..\/docs\/scenario.schema.json\n/u,
      );
    }
  });
});
