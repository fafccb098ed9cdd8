// A call of which nothing is kept: what those who hold thousands of calls at once need of the caller.
import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../../src/fake-platform/caller/turn.ts';
import { callScripted, wavReply } from '../../../support/call-lab.ts';

describe('a light call', () => {
  it('reports a reply when it begins, and keeps no sound', async () => {
    const begun: Reply[] = [];
    const { result } = await callScripted(
      async (turn) => {
        if (turn.number === 1) turn.send(wavReply(300));
        await turn.halfClosed();
        turn.complete();
      },
      { keepsSound: false, onReply: (reply) => begun.push(reply) },
    );
    expect(result.outcome).toBe('hung_up');
    expect(begun.map(({ kind, prompts }) => ({ kind, prompts }))).toEqual([{ kind: 'session_start', prompts: 1 }]);
    expect(begun[0]?.latencyMs).toBe(result.replies[0]?.latencyMs);
    expect([result.heard.length, result.said.length]).toEqual([0, 0]);
    expect(result.replies[0]?.audioMs).toBe(300);
  });
});
