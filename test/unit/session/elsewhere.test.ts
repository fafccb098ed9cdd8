// What a session learns of words that another process says, and what it tells of its own caller.
import { describe, expect, it } from 'vitest';
import { Elsewhere } from '../../../src/session/elsewhere.ts';
import { Playback, type Spoken } from '../../../src/session/heard.ts';
import type { Interrupted, KeptCall } from '../../../src/session/ports.ts';
import { firstRecord } from '../../../src/session/record.ts';
import { loneTurn } from '../../support/lone-turn.ts';

const CALL = { organizationId: 'org', conversationId: 'call-1' };
const RECORD = firstRecord({
  call: { ...CALL, agentId: 'a', startedAtMs: 0, vendorConfig: '', parameters: {} },
  bot: { id: 'a', version: 1 },
  mode: 'chunk',
});

/** A call whose words another process has told at 0 ms. */
function keptWith(spoken: Spoken | undefined): KeptCall {
  return { record: RECORD, spoken };
}

/** What another process tells of a reply of a second. @param cutAtMs - it was cut there; by default it was not. */
function spokenThere({ bargeIn = true, cutAtMs }: { readonly bargeIn?: boolean; readonly cutAtMs?: number } = {}): Spoken {
  const there = new Playback();
  there.begin(0);
  there.queued({ audio: { mulaw: new Uint8Array(8000), durationMs: 1000 }, text: 'One two three four', bargeIn }, 0);
  if (cutAtMs !== undefined) there.cut(cutAtMs);
  return there.tell(0);
}

function between() {
  const told: Interrupted[] = [];
  const playback = new Playback();
  const interruptions = {
    tell: (_key: unknown, interrupted: Interrupted) => told.push(interrupted),
    listen: () => () => undefined,
  };
  return { elsewhere: new Elsewhere(CALL, playback, interruptions), playback, told, turn: loneTurn().turn };
}

describe('words that another process says', () => {
  it('are told to be over by a caller who acts here, and by one who is gone', () => {
    const { elsewhere, told, turn } = between();
    elsewhere.acted(turn, 'keys', false, 0);
    elsewhere.hungUp(turn);
    expect(told).toEqual([
      { place: 0, isHangUp: false },
      { place: 0, isHangUp: true },
    ]);
  });

  it.each(['speech', 'keys'] as const)(
    'G-52 were cut by the %s of a turn here, at the moment of it; only speech may have been none',
    (by) => {
      const { elsewhere, playback, turn } = between();
      elsewhere.acted(turn, by, false, 500);
      const heard = { complete: false, ms: 500, text: 'One two three' };
      const { bargeIn, cut } = elsewhere.caughtUp(keptWith(spokenThere()), turn, 0) ?? {};
      expect(bargeIn).toEqual({ type: 'barge_in', by, heard });
      expect(cut === undefined ? undefined : [cut.heard, cut.isToldOf]).toEqual(by === 'speech' ? [heard, true] : undefined);
      expect(playback.isPlaying(600)).toBe(false);
    },
  );

  it('G-52 were cut there when it was told of it in time, and cannot go on here', () => {
    const { elsewhere, turn } = between();
    elsewhere.acted(turn, 'speech', false, 500);
    expect(elsewhere.caughtUp(keptWith(spokenThere({ cutAtMs: 400 })), turn, 0)).toEqual({
      bargeIn: { type: 'barge_in', by: 'speech', heard: { complete: false, ms: 400, text: 'One two' } },
    });
  });

  it.each([
    ['they were over', 1000, {}],
    ['they cannot be cut', 500, { bargeIn: false }],
  ] as const)('were cut by nobody when %s', (_why, atMs, options) => {
    const { elsewhere, turn } = between();
    elsewhere.acted(turn, 'speech', false, atMs);
    expect(elsewhere.caughtUp(keptWith(spokenThere(options)), turn, 0)).toEqual({});
  });

  it.each([
    ['nobody acted', () => undefined],
    [
      'the caller acted on another turn',
      ({ elsewhere }: ReturnType<typeof between>) => {
        elsewhere.acted(loneTurn().turn, 'keys', false, 500);
      },
    ],
    [
      'what was said was known here and cut',
      ({ elsewhere, turn }: ReturnType<typeof between>) => {
        elsewhere.acted(turn, 'keys', true, 500);
      },
    ],
  ] as const)('are only taken over when %s', (_why, before) => {
    const world = between();
    before(world);
    expect(world.elsewhere.caughtUp(keptWith(spokenThere()), world.turn, 0)).toEqual({});
    expect(world.playback.remainingMs(100)).toBe(900);
  });

  it('are nothing new the second time, or when nobody has told of any', () => {
    const { elsewhere, turn } = between();
    const kept = keptWith(spokenThere());
    expect(elsewhere.caughtUp(kept, turn, 0)).toEqual({});
    elsewhere.acted(turn, 'keys', false, 500);
    expect([elsewhere.caughtUp(kept, turn, 0), elsewhere.caughtUp(keptWith(undefined), turn, 0)]).toEqual([undefined, undefined]);
  });

  it('are cut once by one act', () => {
    const { elsewhere, turn } = between();
    elsewhere.acted(turn, 'keys', false, 500);
    elsewhere.caughtUp(keptWith(undefined), turn, 0);
    expect(elsewhere.caughtUp(keptWith(spokenThere()), turn, 0)).toEqual({});
  });
});

describe('a process without others', () => {
  it('tells nobody and remembers no act', () => {
    const playback = new Playback();
    const alone = new Elsewhere(CALL, playback, undefined);
    const { turn } = loneTurn();
    alone.acted(turn, 'keys', false, 500);
    alone.hungUp(turn);
    expect(alone.caughtUp(keptWith(spokenThere()), turn, 0)).toEqual({});
  });
});
