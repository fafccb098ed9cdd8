// What the platform gets at the end of a reply, member by member.
import { describe, expect, it } from 'vitest';
import type { Transfer } from '../../../../src/dialog/reply.ts';
import { finalNext } from '../../../../src/session/answer/final-next.ts';
import { TEST_SETTINGS } from '../../../support/engine.ts';

/** The metadata of the transfer that the flow gets. */
function metadataOf(transfer: Omit<Transfer, 'kind'>): unknown {
  const next = finalNext({ kind: 'transfer', ...transfer }, TEST_SETTINGS.listen);
  return next.kind === 'transfer' ? next.metadata : undefined;
}

describe('the data of a transfer', () => {
  it("G-79 carries summary, routing hint and the bot's own fields under the platform's names", () => {
    expect(metadataOf({ reason: 'asked', summary: 'A pizza.', routingHint: 'sales', fields: { size: 'xl' } })).toStrictEqual({
      reason: 'asked',
      summary: 'A pizza.',
      routing_hint: 'sales',
      fields: { size: 'xl' },
    });
  });

  it('leaves out what the bot does not say, instead of naming it without a value', () => {
    expect(metadataOf({ reason: 'asked' })).toStrictEqual({ reason: 'asked' });
  });
});
