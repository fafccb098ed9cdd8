// What acting callers cut short, and what is remembered of it: open turns over a playout clock, without a session.
import { describe, expect, it } from 'vitest';
import type { SpokenPrompt } from '../../../../src/dialog/output.ts';
import { Playout } from '../../../../src/session/playout/playout.ts';
import { OpenTurns } from '../../../../src/session/turn/open-turns.ts';
import { answeringTurn, hearingTurn, loneTurn, type LoneTurn } from '../../../support/lone-turn.ts';

const SOUND = { mulaw: new Uint8Array(8000), durationMs: 1000 };
const STORY: SpokenPrompt = { audio: SOUND, text: 'Once upon a time', bargeIn: true };

/** Open turns over a prompt that plays from 0 to 1000 ms. */
function playing(turns: readonly LoneTurn[], prompt = STORY) {
  const playout = new Playout();
  const open = new OpenTurns(playout);
  for (const { turn } of turns) open.add(turn);
  playout.begin(0);
  playout.queued(prompt, 0);
  return { playout, open };
}

/** A turn that is being answered and has or has not said something. */
function replying(number: number, hasSpoken: boolean): LoneTurn {
  const lone = answeringTurn(number);
  if (hasSpoken) lone.turn.write({ kind: 'prompt', prompt: { ...STORY, audio: SOUND } });
  return lone;
}

describe('what speech has cut', () => {
  it('can go on after the input of its turn, once, and for no other turn', () => {
    const [speaking, other] = [hearingTurn(1), loneTurn([], 2)];
    const { open } = playing([speaking, other]);
    expect(open.cutBy('speech', speaking.turn, speaking.turn, 400)).toBe(true);
    expect(open.takeCut(speaking.turn)?.rest[0]?.text).toBe(STORY.text);
    expect(open.takeCut(speaking.turn)).toBeUndefined();
    const again = playing([speaking, other]).open;
    again.cutBy('speech', speaking.turn, speaking.turn, 400);
    expect(again.takeCut(other.turn)).toBeUndefined();
  });

  it('is not forgotten for speech that cut nothing', () => {
    const [speaking, other] = [hearingTurn(1), hearingTurn(2)];
    const { open } = playing([speaking, other]);
    open.cutBy('speech', speaking.turn, speaking.turn, 400);
    expect(open.cutBy('speech', other.turn, other.turn, 500)).toBe(false);
    expect(open.takeCut(speaking.turn)).toBeDefined();
  });

  it('does not go on into keys, also when these cut nothing', () => {
    const [speaking, other] = [hearingTurn(1), loneTurn([], 2)];
    const { open } = playing([speaking, other]);
    open.cutBy('speech', speaking.turn, speaking.turn, 400);
    expect(open.cutBy('keys', other.turn, other.turn, 500)).toBe(false);
    expect(open.takeCut(speaking.turn)).toBeUndefined();
  });

  it('does not go on when keys have cut it, nor when the reply was still being made', () => {
    const keys = loneTurn([{ kind: 'dtmf_start' }], 1);
    const cutByKeys = playing([keys]).open;
    expect(cutByKeys.cutBy('keys', keys.turn, keys.turn, 400)).toBe(true);
    expect(cutByKeys.takeCut(keys.turn)).toBeUndefined();
    const [half, speaking] = [replying(1, true), hearingTurn(2)];
    const cutHalfway = playing([half, speaking]).open;
    expect(cutHalfway.cutBy('speech', speaking.turn, speaking.turn, 400)).toBe(true);
    expect(cutHalfway.takeCut(speaking.turn)).toBeUndefined();
  });
});

describe('acting over a reply', () => {
  it('G-37 cuts nothing and interrupts nobody while a prompt plays that may not be cut', () => {
    const [half, speaking] = [replying(1, true), hearingTurn(2)];
    const { open, playout } = playing([half, speaking], { ...STORY, bargeIn: false });
    expect(open.cutBy('speech', speaking.turn, speaking.turn, 400)).toBe(false);
    expect(open.cutBy('keys', speaking.turn, speaking.turn, 400)).toBe(false);
    expect([playout.isPlaying(400), half.turn.isReplying, speaking.turn.state]).toEqual([true, true, 'hearing']);
  });

  it('G-61 drops what is being said on other turns for keys, and for nothing else', () => {
    const [speaking, acting] = [hearingTurn(1), hearingTurn(2)];
    const { open } = playing([speaking, acting]);
    open.cutBy('speech', acting.turn, acting.turn, 400);
    expect([speaking.turn.state, acting.turn.state]).toEqual(['hearing', 'hearing']);
    open.cutBy('keys', acting.turn, acting.turn, 500);
    expect([speaking.turn.state, acting.turn.state]).toEqual(['keys', 'hearing']);
  });

  // What is heard belongs to the reply before as long as an interrupted one has not begun.
  it.each([
    ['while it plays', 400, [true], { complete: false, ms: 400, text: 'Once upon' }],
    ['while an earlier one plays', 400, [false], { complete: false, ms: 400, text: 'Once upon' }],
    ['after its first prompts were heard', 2000, [true], { complete: false, ms: 1000, text: STORY.text }],
    ['before it has begun', 2000, [false], { complete: false, ms: 0, text: '' }],
    ['when one of two has begun', 2000, [false, true], { complete: false, ms: 1000, text: STORY.text }],
  ] as const)('says what was heard of a reply that is interrupted %s', (_when, nowMs, haveSpoken, heard) => {
    const speaking = hearingTurn(9);
    const { open, playout } = playing([...haveSpoken.map((hasSpoken, index) => replying(index, hasSpoken)), speaking]);
    expect(open.cutBy('speech', speaking.turn, speaking.turn, nowMs)).toBe(true);
    expect(playout.heard(nowMs)).toMatchObject(heard);
  });
});
