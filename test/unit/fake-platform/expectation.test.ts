import { describe, expect, it } from 'vitest';
import { parseExpectation, unmetExpectations, type Expectable } from '../../../src/fake-platform/expectation.ts';
import type { Reply } from '../../../src/fake-platform/turn.ts';

function reply(latencyMs: number | undefined): Reply {
  return { turn: 1, kind: 'dtmf', latencyMs, atMs: 0, prompts: 1, audioMs: 100, maxGapMs: 0, texts: [], isInterrupted: false };
}

const call: Expectable = {
  outcome: 'ended',
  heardTexts: ['Welcome to the front desk.', 'Press 1 (sales) or 0.', 'Goodbye.'],
  replies: [reply(200), reply(undefined), reply(850)],
};

function unmet(...written: string[]): readonly string[] {
  return unmetExpectations(written.map(parseExpectation), call).map(({ expected, found }) => `${expected}: ${found}`);
}

describe('expectations', () => {
  it.each([
    'text:/welcome/i',
    'text:FRONT desk',
    'text:1 (sales)',
    'end',
    'latency<900ms',
    'latency<0.9s',
    'latency < 851 ms',
    'text:/goodbye/gi',
  ])('holds: %s', (written) => {
    expect(unmet(written)).toEqual([]);
  });

  it('says what was there instead', () => {
    expect(unmet('transfer')).toEqual(['transfer: the call was ended']);
    expect(unmet('latency<800ms')).toEqual(['latency<800ms: the reply to dtmf took 850 ms']);
    expect(unmet('text:/good ?night/i')).toEqual([
      'text:/good ?night/i: heard "Welcome to the front desk.", "Press 1 (sales) or 0.", "Goodbye."',
    ]);
    expect(unmetExpectations([parseExpectation('text:x')], { ...call, heardTexts: [] })[0]?.found).toBe(
      'the server gave no text of its prompts',
    );
    expect(unmetExpectations([parseExpectation('latency<1s')], { ...call, replies: [] })[0]?.found).toBe('no reply was measured');
  });

  it('wants texts in the order they are expected in, each of its own', () => {
    expect(unmet('text:welcome', 'text:goodbye')).toEqual([]);
    expect(unmet('text:goodbye', 'text:welcome')).toEqual(['text:welcome: nothing more was said']);
    expect(unmet('text:goodbye', 'text:goodbye')).toHaveLength(1);
  });

  it.each(['', 'text:', 'transferred', 'latency<', 'latency<5', 'latency>5ms', 'text:/(/', 'text:/a/qq'])('refuses "%s"', (written) => {
    expect(() => parseExpectation(written)).toThrow(RangeError);
  });
});
