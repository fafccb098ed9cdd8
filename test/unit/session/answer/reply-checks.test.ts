// What the last reply of a call means for whoever claims it next: an end that was told, words that are left to say.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { firstRecord, type SessionRecord } from '../../../../src/session/snapshot/snapshot.ts';
import { isEndTold, isLeftToSay } from '../../../../src/session/answer/reply-checks.ts';

const call = { organizationId: 'org', conversationId: 'call-1', agentId: 'quiet', vendorConfig: '', parameters: {}, startedAtMs: 0 };
const quiet = bot<null>({
  id: 'quiet',
  name: 'Quiet',
  version: 1,
  session_start: () => go(null, say('Hello.').listen()),
  otherwise: () => go(null, say('Yes?').listen()),
});

function recordOf(change: Partial<SessionRecord>): SessionRecord {
  return { ...firstRecord({ call, bot: quiet, mode: 'chunk' }), ...change };
}

describe('G-77 an end that another server may have told', () => {
  it.each([
    ['open', {}, undefined, false, false],
    ['answered by a server that died or is still speaking', {}, 'elsewhere', false, true],
    ['answered here, and cut before its first word', {}, 'here', false, false],
    ['ended and told', { ended: true }, undefined, true, false],
    ['ended by a server that has not told it', { ended: true }, 'elsewhere', false, true],
    ['ended here, and lost sight of before it was told', { ended: true }, 'here', false, true],
    ['closed by whoever told its end, who could not give it back', { ended: true, closed: true }, 'here', true, false],
  ] as const)('a call that is %s', (_what, change, unheard, told, left) => {
    const kept = { record: recordOf(change), unheard };
    expect([isEndTold(kept), isLeftToSay(kept)]).toEqual([told, left]);
  });
});
