// The fuzzer itself: what it changes, what it keeps, what it reports, and how small it makes it.
import { describe, expect, it } from 'vitest';
import type { Area } from '../../../scripts/fuzz/area.ts';
import { Coverage } from '../../../scripts/fuzz/coverage.ts';
import { Fuzzer } from '../../../scripts/fuzz/fuzzer.ts';
import { minimized } from '../../../scripts/fuzz/minimize.ts';
import { mutated, mutatedParts, mutatedText } from '../../../scripts/fuzz/mutations.ts';
import { seededNumbers } from '../../../src/base/seeded-numbers.ts';
import { encodeMulaw } from '../../../src/speech/g711.ts';

/** A thousand inputs made of one. */
function many(make: (random: () => number) => Buffer | string): readonly string[] {
  const random = seededNumbers(7);
  return Array.from({ length: 1000 }, () => Buffer.from(make(random)).toString());
}

describe('a mutation', () => {
  const bytes = Buffer.from('some bytes of an input');
  const text = '{"seq":1,"name":"n","on":true}';

  it('is drawn from its seed alone', () => {
    expect(many((random) => mutated(bytes, random))).toEqual(many((random) => mutated(bytes, random)));
    expect(many((random) => mutatedText(text, random))).toEqual(many((random) => mutatedText(text, random)));
  });

  it('leaves its input as it is, and nearly always makes another one', () => {
    const changed = new Set(many((random) => mutated(bytes, random)));
    expect(bytes.toString()).toBe('some bytes of an input');
    expect(changed.size).toBeGreaterThan(800);
  });

  it('brings in what another input has', () => {
    const other = Buffer.from('WORDS OF ANOTHER');
    expect(many((random) => mutated(bytes, random, other)).filter((each) => each.includes('ANOTHER')).length).toBeGreaterThan(50);
  });

  it('puts values of other kinds into a text, in JSON and in YAML', () => {
    const isIn = (given: string, sought: string): boolean =>
      many((random) => mutatedText(given, random)).some((each) => each.includes(sought));
    expect(isIn(text, '"seq": null')).toBe(true);
    expect(isIn('grpc:\n  port: 80\n', 'port: -1')).toBe(true);
  });

  it('leaves out, repeats and exchanges parts', () => {
    const parts = ['a', 'b', 'c'].map((part) => Buffer.from(part));
    const drawn = many((random) => Buffer.concat(mutatedParts(parts, random, [Buffer.from('X')], () => Buffer.from('!'))));
    expect(drawn).toEqual(expect.arrayContaining(['bc', 'aabc', 'acb', 'Xabc', '!bc']));
  });
});

describe('an input that is made smaller', () => {
  it('keeps what matters and nothing else', async () => {
    const input = Buffer.from(`${'x'.repeat(500)}BAD${'y'.repeat(500)}`);
    expect((await minimized(input, (smaller) => Promise.resolve(smaller.includes('BAD')))).toString()).toBe('BAD');
  });

  it('is tried so often at most', async () => {
    let asked = 0;
    await minimized(Buffer.alloc(10_000), () => Promise.resolve((asked += 1) < 0), 30);
    expect(asked).toBe(30);
  });
});

describe('the coverage', () => {
  it('counts what runs for the first time, until it is kept', () => {
    const coverage = new Coverage();
    const encode = (): unknown => encodeMulaw(Int16Array.of(1));
    try {
      coverage.fresh(true);
      expect(coverage.fresh(true)).toBe(0);
      encode();
      expect(coverage.fresh(false)).toBeGreaterThan(0);
      encode();
      expect(coverage.fresh(true)).toBeGreaterThan(0);
      encode();
      expect(coverage.fresh(true)).toBe(0);
    } finally {
      coverage.close();
    }
  });
});

describe('the fuzzer', () => {
  /**
   * @param read - is given the input as a text.
   * @param fresh - how much new code an input has run.
   */
  async function fuzzed(read: (input: string) => string, rounds: number, fresh: () => number = () => 0): Promise<Fuzzer> {
    const area: Area = {
      name: 'test',
      seeds: [Buffer.from('seed')],
      mutate: mutated,
      read: (input) => ({ outcome: read(input.toString('latin1')) }),
    };
    const fuzzer = new Fuzzer(area, [Buffer.from('corpus')], { fresh }, seededNumbers(1));
    let left = rounds;
    await fuzzer.run(() => (left -= 1) < 0);
    return fuzzer;
  }

  it('tries seeds and corpus as they are, and keeps none of them', async () => {
    const tried: string[] = [];
    const { fuzzed: result } = await fuzzed((input) => {
      tried.push(input);
      return 'read';
    }, 1);
    expect(tried).toEqual(['seed', 'corpus']);
    expect(result.kept).toEqual([]);
  });

  it('goes on from its seeds, however much is found', async () => {
    const changed: string[] = [];
    let outcomes = 0;
    const area: Area = {
      name: 'test',
      seeds: Array.from({ length: 100 }, () => Buffer.from('seed')),
      mutate: (input) => {
        changed.push(input.toString());
        return Buffer.from('found');
      },
      read: () => ({ outcome: String((outcomes += 1)) }),
    };
    const fuzzer = new Fuzzer(area, [Buffer.from('corpus')], { fresh: () => 0 }, seededNumbers(1));
    let left = 60;
    await fuzzer.run(() => (left -= 1) < 0);
    expect([...new Set(changed.slice(-320))].sort()).toEqual(['found', 'seed']);
  });

  it('keeps one input for each new outcome, and goes on from it', async () => {
    const { fuzzed: result } = await fuzzed((input) => String(Math.min(8, input.split('ee').length)), 40);
    expect(result.outcomes.size).toBeGreaterThan(4);
    // Seed and corpus brought the first two.
    expect(result.kept).toHaveLength(result.outcomes.size - 2);
  });

  it('keeps the input of a batch that runs new code, though its outcome is known', async () => {
    const tried: string[] = [];
    const read = (input: string): string => {
      tried.push(input);
      return 'read';
    };
    // The corpus; then a batch that runs something new, and its inputs alone, of which it is the third.
    let looks = 0;
    const { fuzzed: result } = await fuzzed(read, 2, () => ([1, 4].includes(looks++) ? 1 : 0));
    expect(result.kept.map((input) => input.toString('latin1'))).toEqual([tried[4]]);
  });

  it('reports each fault once, small, without the message of the error', async () => {
    const { fuzzed: result } = await fuzzed((input) => {
      if (input.includes('see')) throw new TypeError(`of ${input}`);
      return 'read';
    }, 20);
    expect(result.findings).toEqual([
      { area: 'test', wrong: expect.stringMatching(/^threw TypeError/u) as string, input: Buffer.from('see') },
    ]);
  });
});
