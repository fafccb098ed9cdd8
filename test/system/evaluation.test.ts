// `parley eval` as a bot author runs it without any service: the bundled evaluations by voice against fake models, and one that fails.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavSound } from '../../src/fake-platform/caller/prompt-sound.ts';
import { ParleyProcess } from '../support/parley-process.ts';

/** The bot does what it should, and the test asks for something else. */
const WRONG = `
models: { caller: { url: http://127.0.0.1:1/v1, model: caller, price: { in: 1000, out: 1000 } } }
personas: { lost: { model: caller, brief: Lost. } }
tests:
  - name: is connected to a person
    agent: appointments
    persona: lost
    goal: a person
    expect: { ends: transferred, tools: [transfer] }
fake_models:
  rules:
    - { model: caller, when: /how can I help/i, say: Is this the bakery? }
    - { model: caller, say: '[hang up]' }
    - { say: 'No, <b>this</b> is the dentist.' }
`;

describe('evaluations by voice', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'parley-evaluation-'));
    writeFileSync(path.join(folder, 'wrong.yaml'), WRONG);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('of the bundled bots pass, one that is wrong does not, and the reports say why', async () => {
    const file = (name: string): string => path.join(folder, name);
    const reports = ['--html', file('page.html'), '--junit', file('junit.xml'), '--record', file('recordings'), '--json'];
    const run = new ParleyProcess(['eval', 'bots/evals', file('wrong.yaml'), '--fake-models', '--runs', '1', '--pace', '8', ...reports]);
    try {
      expect((await run.ended()).code, run.stderr).toBe(1);
    } finally {
      await run.kill();
    }
    const { tests } = JSON.parse(run.stdout) as {
      tests: { name: string; isPassed: boolean; tokens: number; cost?: number; runs: Run[] }[];
    };
    const verdicts = tests.map(({ name, isPassed, runs }) => [
      name,
      isPassed,
      ...runs.map(({ verdict, why }) => [verdict, ...why].join(': ')),
    ]);
    const why = 'failed: it should be transferred and was hung_up: transfer should be used and was not';
    expect(verdicts, run.stderr).toEqual([
      ['books once what was agreed on', true, 'passed'],
      ['finds a time for a caller who interrupts', true, 'passed'],
      ['takes a card without saying its number', true, 'passed'],
      ['books what the caller says', true, 'passed'],
      ['is connected to a person', false, why],
    ]);
    const wrong = tests.at(-1);
    expect(wrong?.tokens).toBeGreaterThan(20);
    expect(wrong?.cost).toBeCloseTo((wrong?.tokens ?? 0) / 1000, 6);
    const page = readFileSync(file('page.html'), 'utf8');
    expect(page).toContain('0 of 1');
    expect(page).toContain('<dd>No, &lt;b&gt;this&lt;/b&gt; is the dentist.</dd>');
    expect(page).toContain('href="recordings/wrong-is-connected-to-a-person.1.wav"');
    // Both sides of the call are in it.
    expect(wavSound(readFileSync(file('recordings/wrong-is-connected-to-a-person.1.wav')), undefined).length).toBeGreaterThan(8000);
    expect(readFileSync(file('junit.xml'), 'utf8')).toContain('tests="5" failures="1" errors="0" skipped="0"');
  });
});

interface Run {
  readonly verdict: string;
  readonly why: readonly string[];
}
