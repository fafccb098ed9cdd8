import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/base/json.ts';
import { unmetExpectations, type Expectable } from '../../../../src/fake-platform/caller/expectation-check.ts';
import { parseExpectation } from '../../../../src/fake-platform/caller/expectation.ts';
import type { Reply } from '../../../../src/fake-platform/caller/turn.ts';

function reply(latencyMs: number | undefined): Reply {
  return {
    turn: 1,
    kind: 'dtmf',
    latencyMs,
    atMs: 0,
    prompts: 1,
    audioMs: 100,
    maxGapMs: 0,
    texts: [],
    isInterrupted: false,
    wasHeard: true,
  };
}

const call: Expectable = {
  outcome: 'ended',
  terminal: { kind: 'session_end', name: 'session_ended', metadata: { reason: 'served', count: 2, deep: { a: [1, 'b'] } } },
  findings: [{ code: 'chunk_size', rule: 'G-42', message: 'a CHUNK holds 3 bytes', turn: 4, atMs: 5, fatal: false }],
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
    'no-text:/good ?night/i',
    'prompts=3',
    'gap<1ms',
    'data:reason=served',
    'data:reason=/^SERV/i',
    'data:count=2',
    'data:deep={"a":[1,"b"]}',
  ])('holds: %s', (written) => {
    expect(unmet(written)).toEqual([]);
  });

  it('says what was there instead', () => {
    expect(unmet('transfer')).toEqual(['transfer: the call was ended']);
    expect(unmet('hangup')).toEqual(['hangup: the call was ended']);
    expect(unmet('no-text:goodbye')).toEqual(['no-text:goodbye: heard "Goodbye."']);
    expect(unmet('prompts=1')).toEqual(['prompts=1: 3 prompts']);
    expect(unmet('gap<0ms')[0]).toBe('gap<0ms: the reply to dtmf (#1) has a gap of 0 ms');
    expect(unmet('data:reason=asked')).toEqual(['data:reason=asked: reason is "served"']);
    expect(unmet('data:summary=x')).toEqual(['data:summary=x: the event carries reason, count, deep']);
    expect(unmet('no-findings')).toEqual(['no-findings: G-42 chunk_size: a CHUNK holds 3 bytes']);
    expect(unmet('latency<800ms')).toEqual(['latency<800ms: the reply to dtmf (#1) took 850 ms']);
    expect(unmet('text:/good ?night/i')).toEqual([
      'text:/good ?night/i: heard "Welcome to the front desk.", "Press 1 (sales) or 0.", "Goodbye."',
    ]);
    expect(unmetExpectations([parseExpectation('text:x')], { ...call, heardTexts: [] })[0]?.found).toBe(
      'the server gave no text of its prompts',
    );
    expect(unmetExpectations([parseExpectation('latency<1s')], { ...call, replies: [] })[0]?.found).toBe('no reply was measured');
  });

  it('names the turn that was slow or broke the contract', () => {
    expect(unmetExpectations([parseExpectation('latency<800ms'), parseExpectation('no-findings')], call).map(({ turn }) => turn)).toEqual([
      1, 4,
    ]);
  });

  it('compares data as data, and allows the findings that are named', () => {
    const holds = (value: JsonValue, name = 'deep'): boolean =>
      unmetExpectations([{ written: '', kind: 'data', name, value }], call).length === 0;
    expect([holds({ a: [1, 'b'] }), holds({ a: [1] }), holds({ a: { 0: 1, 1: 'b' } }), holds({ b: [1, 'b'] })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([holds(2, 'count'), holds('2', 'count'), holds('/2/', 'count')]).toEqual([true, false, false]);
    expect(unmetExpectations([{ written: '', kind: 'no_findings', allowed: ['chunk_size'] }], call)).toEqual([]);
  });

  it('finds sound that is cut off at full scale', () => {
    const facts = { lengthMs: 900, clips: 2, longestClipMs: 1.25, firstClipAtMs: 310.4, longestQuietMs: 0, longestQuietAtMs: undefined };
    const replies = [reply(1), { ...reply(1), turn: 4, sound: { facts, pieces: [] } }];
    const expectations = [parseExpectation('no-clipping')];
    expect(unmetExpectations(expectations, { ...call, replies })).toEqual([
      {
        expected: 'no-clipping',
        found: 'the reply to dtmf (#4) is clipped in 2 places, the first 310 ms into it, the longest for 1.3 ms',
        turn: 4,
      },
    ]);
    expect(unmetExpectations(expectations, call)).toEqual([]);
  });

  it('knows whether a step has begun while a prompt was heard, and whether the call went on after it', () => {
    const interrupts = [{ written: 'interrupts', kind: 'interruption' } as const, parseExpectation('end'), parseExpectation('data:a=b')];
    expect(unmetExpectations(interrupts, { outcome: 'open', heardTexts: [], replies: [] }).map(({ found }) => found)).toEqual([
      'the prompts were over before that moment',
      'the call went on',
      'the server did not end the call',
    ]);
    const mark = { atMs: 1, fromTurn: 2, isInterruption: true, isTaken: true } as const;
    const missed = (missedWord: 'never' | 'unknown'): string | undefined =>
      unmetExpectations(interrupts.slice(0, 1), { ...call, mark: { ...mark, isInterruption: false, missedWord } })[0]?.found;
    expect([missed('never'), missed('unknown')]).toEqual([
      'no prompt before it holds these words',
      'the prompts were over before their text was known',
    ]);
    expect(unmetExpectations(interrupts.slice(0, 1), { ...call, mark })).toEqual([]);
  });

  it('judges a server by real time, however fast the call went', () => {
    const [limit] = [parseExpectation('latency<100ms')];
    expect(unmetExpectations([limit], { ...call, pace: 10 })).toEqual([]);
    expect(unmetExpectations([limit], { ...call, pace: 5 })).toMatchObject([{ found: 'the reply to dtmf (#1) took 170 ms of real time' }]);
  });

  it('takes a hang-up for one only when the server had not ended the call', () => {
    const hung = { ...call, outcome: 'hung_up' } as const;
    const hangup = [parseExpectation('hangup')];
    expect(unmetExpectations(hangup, hung)).toEqual([{ expected: 'hangup', found: 'the call was hung up after the server had ended it' }]);
    expect(unmetExpectations(hangup, { ...hung, terminal: undefined })).toEqual([]);
  });

  it('cannot know that something was not said where no prompt has a text', () => {
    const silent = { ...call, heardTexts: [] };
    const never = [parseExpectation('no-text:goodbye')];
    expect(unmetExpectations(never, silent)[0]?.found).toBe('the server gave no text of its prompts');
    expect(unmetExpectations(never, { ...silent, replies: [{ ...reply(5), prompts: 0 }] })).toEqual([]);
  });

  it('wants texts in the order they are expected in, each of its own', () => {
    expect(unmet('text:welcome', 'text:goodbye')).toEqual([]);
    expect(unmet('text:goodbye', 'text:welcome')).toEqual(['text:welcome: nothing more was said']);
    expect(unmet('text:goodbye', 'text:goodbye')).toHaveLength(1);
  });

  it.each([
    '',
    'text:',
    'transferred',
    'latency<',
    'latency<5',
    'latency>5ms',
    'text:/(/',
    'text:/a/qq',
    'data:=1',
    'data:reason',
    'data:a=/(/',
    'prompts=-1',
    'no-text:',
  ])('refuses "%s"', (written) => {
    expect(() => parseExpectation(written)).toThrow(RangeError);
  });
});
