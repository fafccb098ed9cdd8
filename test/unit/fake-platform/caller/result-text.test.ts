import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../../src/fake-platform/caller/caller.ts';
import { resultData, resultLines } from '../../../../src/fake-platform/caller/result-text.ts';
import type { Reply } from '../../../../src/fake-platform/caller/turn.ts';

const LONG = `\u001b[2Jgone\n${'x'.repeat(100_000)}`;
const SILENT = new Int16Array(0);

const REPLY: Reply = {
  ...{ turn: 1, kind: 'session_start', latencyMs: 20, atMs: 20, prompts: 1, audioMs: 1, maxGapMs: 0, texts: [] },
  ...{ isInterrupted: false, wasHeard: true },
  sound: {
    facts: {
      ...{ lengthMs: 1, clips: 0, longestClipMs: 0, firstClipAtMs: undefined },
      ...{ longestQuietMs: 0, longestQuietAtMs: undefined },
    },
    pieces: [new Int16Array(8).fill(4711)],
  },
};

const RESULT: CallResult & { readonly conversationId: string } = {
  ...{ ok: false, outcome: 'failed', durationMs: 100, pace: 1, timeline: [], terminal: undefined, steps: [], heardTexts: [] },
  ...{ turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 },
  ...{ heard: SILENT, said: SILENT, conversationId: 'c-1', replies: [REPLY] },
  findings: [{ code: 'rpc_failed', message: LONG, turn: 1, atMs: 1, fatal: true }],
  unmet: [{ expected: 'text:hello', found: LONG }],
};

describe('the result of a call', () => {
  it('shows what a server said on short lines that steer no terminal', () => {
    const lines = resultLines(RESULT, false);
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toMatch(/^\P{C}{1,500}$/u);
  });

  it('leaves the sound out of what programs get', () => {
    const text = JSON.stringify(resultData(RESULT));
    expect([text.includes('4711'), text.includes('"lengthMs":1')]).toEqual([false, true]);
  });
});
