// The turns of a session that are not done: which of them ends, and as what, when there is no room or the call is left.
import { describe, expect, it } from 'vitest';
import { Playout } from '../../../../src/session/playout/playout.ts';
import { OpenTurns } from '../../../../src/session/turn/open-turns.ts';
import { answeringTurn, hearingTurn, loneTurn, type LoneTurn } from '../../../support/lone-turn.ts';

function opened(...lone: readonly LoneTurn[]): OpenTurns {
  const open = new OpenTurns(new Playout());
  for (const { turn } of lone) open.add(turn);
  return open;
}

/** How each of them ended; undefined while it is open. */
function ends(...lone: readonly LoneTurn[]): readonly (string | undefined)[] {
  return lone.map(({ facts }) => facts.find((each) => each.startsWith('closed'))?.replace('closed ', ''));
}

describe('room for another turn', () => {
  it('is made by the oldest whose answer nobody wants any more', () => {
    const turns = [hearingTurn(1), answeringTurn(2), answeringTurn(3), answeringTurn(4)] as const;
    const open = opened(...turns);
    for (const { turn } of turns.slice(2)) turn.interrupt();
    open.finishInterrupted();
    expect(ends(...turns)).toEqual([undefined, undefined, 'interrupted', undefined]);
  });

  it('is not made where every answer is wanted', () => {
    const turns = [hearingTurn(1), answeringTurn(2)] as const;
    opened(...turns).finishInterrupted();
    expect(ends(...turns)).toEqual([undefined, undefined]);
  });
});

describe('the last turn of a call that is left', () => {
  it('is the newest that is being answered; a newer one on which nothing was said completes as that', () => {
    const turns = [answeringTurn(1), answeringTurn(2), loneTurn([], 3), hearingTurn(4)] as const;
    const open = opened(...turns);
    expect(open.keepLast()).toBe(turns[1].turn);
    expect(ends(...turns)).toEqual(['superseded', undefined, 'nothing_said', 'superseded']);
  });

  it('is the newest where none is being answered; older ones are superseded, silent or not', () => {
    const turns = [loneTurn([], 1), hearingTurn(2), loneTurn([], 3)] as const;
    const open = opened(...turns);
    expect(open.keepLast()).toBe(turns[2].turn);
    expect(ends(...turns)).toEqual(['superseded', 'superseded', undefined]);
  });

  it('is none where none is open', () => {
    expect(new OpenTurns(new Playout()).keepLast()).toBeUndefined();
  });
});

describe('streams on which nothing more is said', () => {
  it('complete where the caller has done nothing', () => {
    const turns = [answeringTurn(1), hearingTurn(2), loneTurn([], 3)] as const;
    opened(...turns).complete('silent');
    expect(ends(...turns)).toEqual([undefined, undefined, 'nothing_said']);
  });

  it('complete all where what comes next comes to another process', () => {
    const turns = [answeringTurn(1), hearingTurn(2), loneTurn([], 3)] as const;
    opened(...turns).complete('all');
    expect(ends(...turns)).toEqual(['superseded', 'superseded', 'nothing_said']);
  });
});
