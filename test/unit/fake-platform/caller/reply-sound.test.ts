import { describe, expect, it } from 'vitest';
import type { CallResult, HeldCallOptions } from '../../../../src/fake-platform/caller/caller.ts';
import { decodeMulaw } from '../../../../src/speech/g711.ts';
import { tone } from '../../../support/call-lab.ts';
import { event, FakeCall, piece, REACTION_MS, say } from '../../../support/fake-line.ts';

/** A call whose welcome comes in two pieces, the second one so late that a gap is heard, and is cut in its middle. */
async function cut(options: Pick<HeldCallOptions, 'replySound'>): Promise<CallResult> {
  const call = new FakeCall({ script: [say(200, 500)], ...options });
  call.turn(1).answer({ type: 'chunk', prompts: [piece(300, true)] });
  call.clock.advance(450);
  call.turn(1).answer({ type: 'chunk', prompts: [piece(1000, true)] });
  call.turn(1).answer({});
  call.turn(1).complete();
  call.clock.advance(200);
  call.turn(2).answer(event('start_of_input'));
  call.clock.advance(200);
  call.turn(2).answer(event('end_of_input'));
  call.turn(2).answer({});
  call.turn(2).complete();
  call.clock.advance(REACTION_MS + 10);
  call.turns.at(-2)?.complete();
  call.turns.at(-1)?.complete();
  return call.over;
}

describe('the sound of a reply', () => {
  it('is kept whole when it is asked for, although its caller heard less: every sample can be compared', async () => {
    const { replies, outcome } = await cut({ replySound: 'samples' });
    expect(outcome).toBe('hung_up');
    const [welcome] = replies;
    expect(welcome).toMatchObject({ isInterrupted: true, audioMs: 1300, sound: { facts: { lengthMs: 1300, clips: 0 } } });
    const known = Int16Array.from([...decodeMulaw(tone(300)), ...decodeMulaw(tone(1000))]);
    expect((welcome?.sound?.pieces ?? []).flatMap((piece) => [...piece])).toEqual([...known]);
  });

  it('can be measured without being kept, and costs nothing when nobody asks', async () => {
    const [measured] = (await cut({ replySound: 'facts' })).replies;
    expect(measured?.sound?.facts.lengthMs).toBe(1300);
    expect(measured?.sound?.pieces).toEqual([]);
    const [plain] = (await cut({})).replies;
    expect(plain).not.toHaveProperty('sound');
  });

  it('reports the longest gap that was heard, and where', async () => {
    const [welcome] = (await cut({})).replies;
    expect(welcome).toMatchObject({ maxGapMs: 150, maxGapAtMs: 300 });
  });
});
