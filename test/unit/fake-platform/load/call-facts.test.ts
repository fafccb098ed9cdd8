// What a load makes of a call that the server transferred.
import { expect, it } from 'vitest';
import type { CallResult } from '../../../../src/fake-platform/caller/caller.ts';
import { factsOf, isRefused } from '../../../../src/fake-platform/load/call-facts.ts';
import type { Reply } from '../../../../src/fake-platform/caller/turn.ts';
import type { JsonObject } from '../../../../src/base/json.ts';

const SOUND = { compared: 0, wrong: 0, short: 0, unknown: 0 };

function transferred(metadata: JsonObject, replies: number, expectedTransfer?: string) {
  const result = {
    ...{ outcome: 'transferred', durationMs: 1, findings: [], turnsRepeated: 0, turnsReopened: 0, turnsLost: 0 },
    terminal: { kind: 'transfer', name: 'to_agent', metadata, turn: replies },
    replies: Array.from({ length: replies }, () => ({ prompts: 0 }) as Reply),
  } as const satisfies Partial<CallResult>;
  const arrival = { number: 0, scenario: 0, dueMs: 0 };
  return factsOf(result, arrival, expectedTransfer, { isHeard: true, sound: SOUND });
}

it('is a good call where the scenario expects a transfer with this reason', () => {
  expect(transferred({ reason: 'wants a person' }, 3, 'wants a person')).toMatchObject({ outcome: 'transferred', failures: [] });
  expect(transferred({}, 3, 'to_agent')).toMatchObject({ outcome: 'transferred', failures: [] });
});

it('has failed where none or another one was expected, and was refused where nothing came before it', () => {
  const cases = [
    [transferred({ reason: 'bot_failed' }, 3), false],
    [transferred({ reason: 'organization' }, 1), true],
    [transferred({ reason: 'organization' }, 1, 'wants a person'), true],
  ] as const;
  for (const [facts, refused] of cases) {
    expect(facts).toMatchObject({ outcome: 'failed', failures: [{ code: 'unexpected_transfer' }] });
    expect(isRefused(facts)).toBe(refused);
  }
  expect(cases[1][0].failures[0]?.message).toContain('"organization"');
  // Who gives no reason is named by the event.
  expect(transferred({}, 2).failures[0]?.message).toContain('"to_agent"');
});
