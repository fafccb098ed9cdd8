// Whose an answer is on a socket where nothing names the input that is answered: decided by order, time and what can be a reply.
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../../src/fake-platform/caller/answer.ts';
import type { PlatformInput } from '../../../../../src/fake-platform/lines/line.ts';
import { SILENT_FRAME } from '../../../../../src/fake-platform/caller/microphone.ts';
import type { SocketTurn } from '../../../../../src/fake-platform/lines/socket/socket-turn.ts';
import { SocketTurns } from '../../../../../src/fake-platform/lines/socket/socket-turns.ts';
import { tone } from '../../../../support/call-lab.ts';
import { answerOf, event, piece } from '../../../../support/fake-line.ts';

const START: PlatformInput = { kind: 'session_start', name: '', parameters: {} };
const EVENT: PlatformInput = { kind: 'custom_event', name: 'x', parameters: {} };
const KEY: PlatformInput = { kind: 'dtmf_start' };
const DIGITS: PlatformInput = { kind: 'dtmf', keys: ['1'] };
const SPEECH: PlatformInput = { kind: 'audio', audio: tone(20) };
const SILENCE: PlatformInput = { kind: 'audio', audio: SILENT_FRAME };

const SOUND: Partial<Answer> = { type: 'chunk', prompts: [piece(100, true)] };
const FINAL: Partial<Answer> = { prompts: [{ text: '', uri: '', audio: new Uint8Array(0), bargeIn: false }] };
const STARTED: Partial<Answer> = event('start_of_input');
const ENDED: Partial<Answer> = { ...event('end_of_input'), type: 'chunk' };
const FAREWELL: Partial<Answer> = { ...event('transfer'), prompts: [piece(100)] };

/** The turns of one call, and what each of them hears. */
class Bench {
  nowMs = 0;
  readonly findings: string[] = [];
  readonly turns = new SocketTurns(
    () => this.nowMs,
    ({ rule, code }) => this.findings.push(`${rule} ${code}`),
  );

  /** Sends on a turn of its own, which is half-closed unless it carries audio. */
  open(...inputs: readonly PlatformInput[]): { readonly turn: SocketTurn; readonly heard: readonly string[] } {
    const heard: string[] = [];
    const turn = this.turns.open({
      answered: (answer) => heard.push(wordsOf(answer)),
      ended: ({ kind }) => heard.push(kind),
    });
    for (const input of inputs) this.turns.sent(turn, input);
    if (inputs.every(({ kind }) => kind !== 'audio')) this.turns.halfClose(turn);
    return { turn, heard };
  }

  answer(...answers: readonly Partial<Answer>[]): void {
    for (const answer of answers) this.turns.take(answerOf(answer), { promptTexts: [] });
  }
}

function wordsOf({ event: said, prompts, type }: Answer): string {
  if (said !== undefined) return said.kind;
  return prompts.some(({ audio }) => audio.length > 0) ? 'sound' : type;
}

describe('a reply to keys that cut another one (W-26)', () => {
  function cutByKeys(): { readonly bench: Bench; readonly welcome: readonly string[]; readonly digits: readonly string[] } {
    const bench = new Bench();
    const { heard: welcome } = bench.open(START);
    bench.answer(SOUND);
    bench.open(KEY);
    const { heard: digits } = bench.open(DIGITS);
    return { bench, welcome, digits };
  }

  it('is heard although the reply that was cut never closes', () => {
    const { bench, welcome, digits } = cutByKeys();
    bench.nowMs = 150;
    bench.answer(SOUND, FINAL);
    expect(digits).toEqual(['sound', 'final', 'completed']);
    // Behind a newer reply nothing of it can come any more.
    expect(welcome).toEqual(['sound', 'completed']);
    expect(bench.findings).toEqual([]);
  });

  it('begins behind what is still on its way of the one that was cut, and behind its silent FINAL', () => {
    const { bench, welcome, digits } = cutByKeys();
    bench.nowMs = 50;
    bench.answer(SOUND);
    bench.nowMs = 600;
    bench.answer(FINAL);
    expect(digits).toEqual([]);
    expect(welcome).toEqual(['sound', 'sound', 'final', 'completed']);
    bench.answer(SOUND, FINAL);
    expect(digits).toEqual(['sound', 'final', 'completed']);
    expect(bench.findings).toEqual([]);
  });

  it('may be a FINAL that says nothing, once the one that was cut has had its time', () => {
    const { bench, digits } = cutByKeys();
    bench.nowMs = 1100;
    bench.answer(FINAL);
    expect(digits).toEqual(['final', 'completed']);
  });
});

describe('an event of the flow (G-72)', () => {
  it('that is not answered takes nothing from the reply to speech, nor from that to keys', () => {
    const bench = new Bench();
    const { heard: event } = bench.open(EVENT);
    const { heard: digits } = bench.open(DIGITS);
    bench.nowMs = 150;
    bench.answer(SOUND, FINAL);
    expect(digits).toEqual(['sound', 'final', 'completed']);
    const { heard: speech } = bench.open(SPEECH);
    bench.answer(STARTED);
    const { heard: second } = bench.open(EVENT);
    bench.answer(ENDED, SOUND, FINAL);
    expect(speech).toEqual(['start_of_input', 'end_of_input', 'sound', 'final', 'completed']);
    expect([event, second]).toEqual([['completed'], []]);
  });

  it('that is answered at last is answered behind the speech that overtook it', () => {
    const bench = new Bench();
    bench.open(SPEECH);
    bench.answer(STARTED);
    const { heard } = bench.open(EVENT);
    bench.answer(ENDED, SOUND, FINAL, SOUND, FINAL);
    expect(heard).toEqual(['sound', 'final', 'completed']);
    expect(bench.findings).toEqual([]);
  });

  it('whose answer has begun is not overtaken', () => {
    const bench = new Bench();
    const { heard } = bench.open(EVENT);
    bench.answer(SOUND);
    const { heard: silence } = bench.open({ kind: 'no_input' });
    bench.answer(FINAL, SOUND, FINAL);
    expect([heard, silence]).toEqual([
      ['sound', 'final', 'completed'],
      ['sound', 'final', 'completed'],
    ]);
  });

  it('does not keep a call open that the server has ended', () => {
    const bench = new Bench();
    bench.open(SPEECH);
    bench.answer(STARTED);
    const { heard } = bench.open(EVENT);
    bench.answer(ENDED, FAREWELL);
    expect(heard).toEqual(['completed']);
  });
});

describe('a reply to speech that cut another one, without END_OF_INPUT of its own (W-24)', () => {
  function spokenInto(): { readonly bench: Bench; readonly welcome: readonly string[]; readonly speech: readonly string[] } {
    const bench = new Bench();
    const { heard: welcome } = bench.open(START);
    bench.answer(SOUND);
    const { heard: speech } = bench.open(SPEECH);
    bench.answer(STARTED);
    return { bench, welcome, speech };
  }

  it('is heard once the one that was cut has had its time, and a late FINAL of that one is none', () => {
    const { bench, welcome, speech } = spokenInto();
    bench.nowMs = 1500;
    bench.answer(SOUND, FINAL);
    expect(speech).toEqual(['start_of_input', 'sound', 'final', 'completed']);
    expect(welcome).toEqual(['sound', 'completed']);
    const late = spokenInto();
    late.bench.nowMs = 1500;
    late.bench.answer(FINAL, SOUND, FINAL);
    expect(late.speech).toEqual(['start_of_input', 'sound', 'final', 'completed']);
    expect([...bench.findings, ...late.bench.findings]).toEqual([]);
  });

  it('is heard at once where the same FINAL says that the input is over', () => {
    const { bench, welcome, speech } = spokenInto();
    bench.answer({ ...event('end_of_input'), prompts: [piece(100)] });
    expect([welcome, speech]).toEqual([
      ['sound', 'completed'],
      ['start_of_input', 'end_of_input', 'completed'],
    ]);
  });

  it.each([true, false])('is heard at once where it ends the call, with sound: %s', (hasSound) => {
    const { bench, speech } = spokenInto();
    bench.answer(hasSound ? FAREWELL : event('session_end'));
    expect(speech).toEqual(['start_of_input', hasSound ? 'transfer' : 'session_end', 'completed']);
    expect(bench.findings).toEqual([]);
  });
});

describe('a reply that nobody has asked for (W-24)', () => {
  it('is found at its end, and none that is the last of the call', () => {
    const bench = new Bench();
    bench.open(SILENCE);
    bench.answer(SOUND);
    expect(bench.findings).toEqual([]);
    bench.answer(FINAL);
    expect(bench.findings).toEqual(['W-24 answer_unasked']);
    const ending = new Bench();
    const { heard } = ending.open(SILENCE);
    ending.answer(SOUND, event('transfer'));
    expect([heard, ending.findings]).toEqual([['sound', 'transfer', 'completed'], []]);
  });

  it('is none behind speech that was sent, or that was reported too late to be heard', () => {
    const bench = new Bench();
    bench.open(SPEECH);
    bench.answer(SOUND, FINAL);
    const { turn } = bench.open(SPEECH);
    bench.turns.halfClose(turn);
    const { heard } = bench.open({ kind: 'no_input' });
    bench.answer(STARTED, ENDED, SOUND, FINAL);
    expect(heard).toEqual(['sound', 'final', 'completed']);
    bench.open(SILENCE);
    bench.answer(SOUND, FINAL);
    expect(bench.findings).toEqual([]);
  });
});
