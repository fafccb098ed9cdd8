// Files of evaluations: what is read from them, and what is said of one that is wrong, before anything is called.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { evalCommand } from '../../../src/cli/eval.ts';
import { evalsOf, openModels, readEvals } from '../../../src/cli/evaluation/eval-file.ts';
import { complaints } from '../../../src/cli/evaluation/verdict.ts';

const FILE = `
models:
  one: { url: http://127.0.0.1:1/v1, model: small, price: { in: 1, out: 4 } }
personas:
  calm: { model: one, brief: Calm., voice: slt, noise: cafe.wav, interrupts: 0.5 }
defaults:
  agent: desk
  runs: 5
  gap_below_ms: 250
  expect: { ends: hung_up, not_heard: ['/\\d{16}/'] }
tests:
  - name: books
    persona: calm
    goal: an appointment
    runs: 3
    expect: { tools: [look, { book: 2 }, { pay: { times: 1, with: { euros: 80, card: /^visa/ } } }], heard: [It is booked] }
    judge: { model: one, votes: 3, veto: [The bot is rude.] }
  - name: leaves
    persona: calm
    goal: nothing
    latency_p95_below_ms: 900
    expect: { ends: ended }
`;

const folder = mkdtempSync(path.join(tmpdir(), 'parley-evals-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function evalsIn(text: string) {
  const read = readEvals(text);
  if (!('file' in read)) throw new Error(JSON.stringify(read.problems));
  const opened = await openModels(read.file, '/evals/desk.yaml', undefined);
  return { opened, evals: evalsOf(read.file, '/evals/desk.yaml', read.placeOf, opened.models) };
}

/** What the command says of a file, and how it ends. */
async function commanded(text: string, ...argv: readonly string[]) {
  const file = path.join(folder, 'desk.yaml');
  writeFileSync(file, text);
  const lines: string[] = [];
  const command = evalCommand({
    ...{ clock: systemClock, isColoured: false, openVoice: () => Promise.reject(new Error('nobody is called')) },
    print: (line) => lines.push(line),
    complain: (line) => lines.push(line),
    setExitCode: (code) => lines.push(`exit ${String(code)}`),
    onInterrupt: () => () => undefined,
  });
  command.exitOverride().configureOutput({ writeErr: (line) => lines.push(line.trim()) });
  await command.parseAsync([file, ...argv], { from: 'user' }).catch((error: unknown) => {
    lines.push(`exit ${String(Reflect.get(Object(error), 'exitCode'))}`);
  });
  return lines.map((line) => line.replace(`${folder}/`, ''));
}

describe('a file of evaluations', () => {
  it('holds tests with models, callers and expectations, where the own ones win', async () => {
    const { opened, evals } = await evalsIn(FILE);
    const model = opened.models.get('one');
    expect(model?.modelId).toBe('small');
    expect([...opened.prices.values()]).toEqual([{ in: 1, out: 4 }]);
    expect(evals).toEqual([
      {
        ...{
          name: 'books',
          file: '/evals/desk.yaml',
          line: 12,
          agent: 'desk',
          runs: 3,
          jobs: undefined,
          maxTurns: undefined,
          passRate: 0.9,
        },
        ...{ voice: 'slt', noise: '/evals/cafe.wav' },
        persona: { model, brief: 'Calm.', goal: 'an appointment', interrupts: 0.5 },
        judge: { model, veto: ['The bot is rude.'], votes: 3 },
        expect: {
          ...{ ends: 'hung_up', gapBelowMs: 250, says: [/It is booked/iu], saysNot: [/\d{16}/] },
          tools: { look: {}, book: 2, pay: { times: 1, with: { euros: 80, card: '/^visa/' } } },
        },
      },
      expect.objectContaining({
        ...{ name: 'leaves', line: 18, runs: 5, judge: undefined },
        expect: { ends: 'ended', tools: {}, saysNot: [/\d{16}/], answerP95BelowMs: 900, gapBelowMs: 250 },
      }),
    ]);
  });

  it('says of a run what was heard, what was used and how long it took', async () => {
    const { evals } = await evalsIn(FILE);
    const lines = [{ by: 'bot', text: 'Your card 1234123412341234.' }] as const;
    const tools = [{ tool: 'pay', input: { euros: 80, card: 'master' } }];
    const run = { end: 'hung_up', lines, tools, answerMs: [500], gapMs: 300 } as const;
    expect(complaints(evals[0]?.expect ?? {}, run)).toEqual([
      'look should be used and was not',
      'book should be used 2 times and was not',
      'pay should be used with {"euros":80,"card":"/^visa/"} and was used with {"euros":80,"card":"master"}',
      'the bot should say /It is booked/iu',
      String.raw`the bot should not say /\d{16}/`,
      'no reply should be silent for 250 ms in the middle, and one was for 300 ms',
    ]);
  });

  it.each([
    ['model: one, brief: Calm.', 'model: two, brief: Calm.', '5:11  personas.calm.model: there is no model "two"; there are one'],
    [
      'persona: calm\n    goal: nothing',
      'persona: mad\n    goal: nothing',
      '19:5  tests[1].persona: there is no persona "mad"; there are calm',
    ],
    ['name: leaves', 'name: books', '18:5  tests[1].name: another test of this file has the same name'],
    ['voice: slt', 'voice: anna', '5:37  personas.calm.voice: write one of slt, rms, awb, kal'],
    ['{ book: 2 }', '{ book: often }', '16:31  tests[0].expect.tools[1].book: give a whole number, or times and with'],
    ["'/\\d{16}/'", "'/(/'", '10:40  defaults.expect.not_heard[0]: "/(/" is no regular expression'],
    ['url: http://127.0.0.1:1/v1, ', '', '3:3  models.one: a model needs url and model, or module alone'],
    ['ends: ended', 'end: ended', '22:15  tests[1].expect.end: unknown field "end"; an expectation has ends, tools'],
    ['runs: 3', 'runs: 0', '15:5  tests[0].runs: give a whole number from 1 to 10000'],
  ])('that has %j as %j is refused where that stands', async (from, to, problem) => {
    expect(FILE).toContain(from);
    const [line, exit] = await commanded(FILE.replace(from, to));
    expect(line).toContain(`desk.yaml:${problem}`);
    expect(exit).toBe('exit 2');
  });

  it.each([
    [
      'target',
      FILE,
      ['--target', 'grpc://localhost:1'],
      'desk.yaml:16:15  tests[0].expect.tools: the server behind --target does not show its tools; leave --target out, or this',
    ],
    [
      'target',
      FILE,
      ['--target', 'grpc://localhost:1', '--grpc.port=2'],
      'error: --grpc.port=2 is for the server that runs here without --target',
    ],
    [
      'target',
      FILE,
      ['--target', 'grpc://localhost:1', '--fake-models'],
      'error: --fake-models are for the server that runs here without --target',
    ],
    ['fake models', FILE, ['--fake-models'], 'desk.yaml: --fake-models needs fake_models in it'],
    [
      'key',
      FILE.replace('model: small', 'model: small, key_env: PARLEY_NO_SUCH_KEY'),
      [],
      'error: desk.yaml  models.one: set the variable PARLEY_NO_SUCH_KEY, which holds its key',
    ],
    [
      'module',
      FILE.replace('url: http://127.0.0.1:1/v1, model: small', 'module: none.mjs'),
      [],
      'error: desk.yaml  models.one: Cannot find module',
    ],
    ['script', `${FILE}fake_models: { rules: [{ when: x }] }\n`, [], 'desk.yaml:23:1  fake_models: rules.0: needs `say`, `use` or both'],
  ] as const)('is refused for its %s before anything is called', async (_, text, argv, problem) => {
    const [line, exit] = await commanded(text, ...argv);
    expect(line).toContain(problem);
    expect(exit).toBe('exit 2');
  });

  it('takes a model of an AI SDK provider from a module beside it', async () => {
    writeFileSync(
      path.join(folder, 'mine.mjs'),
      "export default { specificationVersion: 'v3', provider: 'x', modelId: 'mine', doStream() {} };\n",
    );
    const read = readEvals(FILE.replace('url: http://127.0.0.1:1/v1, model: small', 'module: mine.mjs'));
    const file = 'file' in read ? read.file : undefined;
    if (file === undefined) throw new Error('it is refused');
    const { models } = await openModels(file, path.join(folder, 'desk.yaml'), undefined);
    expect(models.get('one')?.modelId).toBe('mine');
    const faked = await openModels(file, path.join(folder, 'desk.yaml'), 'http://127.0.0.1:1/v1');
    expect(faked.models.get('one')).toMatchObject({ provider: 'chat', modelId: 'one' });
  });
});
