// The reply writer of one turn alone: which prompts go out when, what counts as said, and what the final carries.
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { DeliveryMode, FinalNext, PromptAudio } from '../../../../src/dialog/output.ts';
import type { Prompt } from '../../../../src/dialog/reply.ts';
import { Playout } from '../../../../src/session/playout/playout.ts';
import type { Sound } from '../../../../src/session/ports.ts';
import { ReplyWriter } from '../../../../src/session/playout/reply-writer.ts';
import { FakeVoice, TEST_SETTINGS } from '../../../support/engine.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { answeringTurn } from '../../../support/lone-turn.ts';

const LISTEN: FinalNext = { kind: 'listen', ...TEST_SETTINGS.listen };
const END: FinalNext = { kind: 'end', metadata: {} };
const text = (words: string, bargeIn = true): Prompt => ({ kind: 'text', text: words, bargeIn });
const recording = (file: string): Prompt => ({ kind: 'file', file, bargeIn: true });

/** Has no recording called `missing.wav`, and says `Streamed.` with pieces that never come. */
class Voice extends FakeVoice {
  override render(prompt: Prompt): Sound | Promise<Sound> {
    if (prompt.kind === 'file' && prompt.file === 'missing.wav') return undefined;
    return prompt.kind === 'text' && prompt.text === 'Streamed.' ? NEVER : super.render(prompt);
  }
}

/** Has no sound for `Mute.`. */
class HalfMuteVoice extends Voice {
  override render(prompt: Prompt): Sound | Promise<Sound> {
    return prompt.kind === 'text' && prompt.text === 'Mute.' ? undefined : super.render(prompt);
  }
}

const NEVER: AsyncIterable<PromptAudio> = {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
};

function writing({ mode = 'chunk', voice = new Voice() }: { readonly mode?: DeliveryMode; readonly voice?: FakeVoice } = {}) {
  const lone = answeringTurn();
  const [clock, playout, hurry, firstAudio] = [new FakeClock(), new Playout(), new AbortController(), [] as number[]];
  const writer = new ReplyWriter({
    turn: lone.turn,
    conversation: { mode, playout, leaving: undefined },
    speaks: {},
    voice,
    clock,
    settings: { slowReaderMs: 10_000, maxFarewellMs: 30_000 },
    hurry: hurry.signal,
    onFirstAudio: () => firstAudio.push(clock.monotonicMs()),
  });
  return { ...lone, writer, clock, playout, hurry, firstAudio };
}

/** What the final says of the prompts sent ahead of it. */
function finalBargeIn({ sink }: ReturnType<typeof writing>): boolean | undefined {
  const final = sink.outputs.at(-1);
  return final?.kind === 'final' ? final.bargeIn : undefined;
}

describe('the final of a reply', () => {
  it.each([
    ['cannot be cut when nothing was sent ahead of it', [], [], LISTEN, false],
    ['can be cut like its last prompt', [text('No.', false)], [text('Yes.')], LISTEN, true],
    ['cannot be cut when its last prompt cannot', [text('Yes.')], [text('No.', false)], LISTEN, false],
    ['cannot be cut when the call ends, whatever was said before', [text('Yes.')], [], END, false],
  ] as const)('G-43 %s', async (_how, early, prompts, next, bargeIn) => {
    const world = writing();
    await world.writer.speak(early);
    const isDone = world.writer.finish(prompts, next, next.kind === 'end');
    await world.clock.advanceAsync(1000);
    expect([await isDone, finalBargeIn(world)]).toEqual([true, bargeIn]);
  });

  it('holds the floor no longer', async () => {
    const { turn, writer } = writing();
    await writer.finish([text('Listen to me.', false)], LISTEN, false);
    expect(turn.holdsFloor).toBe(false);
  });

  it('G-7A leaves no listener on the signal that hurries it', async () => {
    const { clock, writer, hurry } = writing();
    const isDone = writer.finish([text('Goodbye.')], END, true);
    await flushMicrotasks();
    expect(getEventListeners(hurry.signal, 'abort')).toHaveLength(1);
    await clock.advanceAsync(80);
    expect([await isDone, getEventListeners(hurry.signal, 'abort')]).toEqual([true, []]);
  });
});

describe('a prompt without sound in chunk mode', () => {
  it.each([
    ['whole', 'Three.'],
    ['in pieces', 'Streamed.'],
  ])('G-22 G-43 is not overtaken by a text that has one, %s', async (_how, third) => {
    const { clock, writer, sink } = writing({ voice: new HalfMuteVoice() });
    const isDone = writer.finish([text('One.'), text('Mute.'), text(third)], LISTEN, false);
    await clock.advanceAsync(1000);
    const final = sink.outputs.at(-1);
    expect([await isDone, sink.kinds, final?.kind === 'final' ? final.prompts.map((prompt) => prompt.text) : []]).toEqual([
      true,
      ['prompt', 'final'],
      ['Mute.', third],
    ]);
    expect(final).toMatchObject({ prompts: [{ audio: undefined }, { audio: undefined }] });
  });

  it('cannot keep back a recording, which the final takes none of', async () => {
    const { writer, sink } = writing({ voice: new HalfMuteVoice() });
    await writer.finish([text('Mute.'), recording('amount.wav')], LISTEN, false);
    expect(sink.kinds).toEqual(['prompt', 'final']);
  });
});

describe('a filler', () => {
  it('says whether it was said', () => {
    const [spoken, interrupted] = [writing(), writing()];
    interrupted.turn.interrupt();
    expect([spoken, interrupted, writing({ mode: 'wav' })].map(({ writer }) => writer.interject(text('One moment.')))).toEqual([
      true,
      false,
      false,
    ]);
    expect(spoken.sink.texts).toEqual(['One moment.']);
  });

  it('is not said where nothing can speak it at once', () => {
    for (const voice of [new FakeVoice(false), new Voice()]) {
      const { writer, sink } = writing({ voice });
      expect([writer.interject(text('Streamed.')), sink.outputs]).toEqual([false, []]);
    }
  });
});

describe('the first sound of a reply', () => {
  it('is reported once', async () => {
    const { clock, writer, firstAudio } = writing();
    await writer.speak([text('One.')]);
    clock.advance(100);
    await writer.finish([text('Two.')], LISTEN, false);
    expect(firstAudio).toEqual([0]);
  });

  it.each([
    ['with one that has text alone beside it', [text('Yes.'), text('Streamed.')], [5000]],
    ['and not without any', [text('Streamed.')], []],
    ['and not for a reply without prompts', [], []],
  ] as const)('G-41 travels with the final in WAV mode, %s', async (_how, prompts, reportedAt) => {
    const { clock, writer, sink, firstAudio } = writing({ mode: 'wav' });
    const isDone = writer.finish(prompts, LISTEN, false);
    await clock.advanceAsync(5000);
    expect([await isDone, sink.kinds, firstAudio]).toEqual([true, ['final'], reportedAt]);
  });
});

describe('what counts as heard', () => {
  it('is the whole reply, however long its bot thinks between two prompts', async () => {
    const { clock, writer, playout } = writing();
    await writer.speak([text('One.')]);
    clock.advance(5000);
    await writer.finish([text('Two.')], LISTEN, false);
    clock.advance(1000);
    expect(playout.heard(clock.monotonicMs())).toMatchObject({ complete: true, ms: 80, text: 'One. Two.' });
  });

  it('is nothing after a reply without prompts', async () => {
    const { clock, writer, playout } = writing();
    playout.queued({ audio: { mulaw: new Uint8Array(80), durationMs: 10 }, text: 'Old.', bargeIn: true }, 0);
    clock.advance(10);
    await writer.finish([], LISTEN, false);
    expect(playout.heard(10)).toMatchObject({ complete: true, ms: 0, text: '' });
  });

  it.each([
    ['has begun', [text('One.')]],
    ['has no sound yet', [text('Streamed.')]],
    ['has no prompts', []],
  ] as const)('G-53 stays what it was when a reply that %s is interrupted', async (_what, prompts) => {
    const { clock, turn, writer, playout, sink } = writing();
    sink.isFull = true;
    const isDone = writer.finish(prompts, LISTEN, false);
    if (prompts.length === 0) await isDone;
    turn.interrupt();
    playout.cut(clock.monotonicMs());
    playout.dropped(false);
    await isDone;
    expect(playout.heard(clock.monotonicMs()).complete).toBe(false);
  });

  it('goes on with a reply that was cut, with what had been heard of it', async () => {
    const { clock, writer, playout, sink } = writing();
    const sound = { mulaw: new Uint8Array(8000), durationMs: 1000 };
    for (const words of ['one', 'two']) playout.queued({ audio: sound, text: words, bargeIn: true }, 0);
    clock.advance(1600);
    await writer.resume(playout.cut(1600));
    expect(sink.texts).toEqual(['two']);
    await writer.finish([], LISTEN, false);
    clock.advance(800);
    expect(playout.heard(clock.monotonicMs())).toMatchObject({ complete: true, ms: 2000, text: 'one two' });
  });

  it.each([
    ['before it goes on', 0, []],
    ['after a prompt of it', 1, ['a']],
  ])('stays what it was when a cut reply is interrupted again %s', async (_when, atPrompt, said) => {
    const { turn, writer, playout, sink } = writing();
    const sound = { mulaw: new Uint8Array(800), durationMs: 100 };
    for (const words of ['a', 'b']) playout.queued({ audio: sound, text: words, bargeIn: true }, 0);
    const cut = playout.cut(0);
    sink.isFull = true;
    if (atPrompt === 0) turn.interrupt();
    const resumed = writer.resume(cut);
    turn.interrupt();
    await resumed;
    expect(sink.texts).toEqual(said);
    expect(playout.heard(0).complete).toBe(false);
  });
});

describe('the texts that were said', () => {
  it('are those of the prompts that were spoken, of which recordings have none', async () => {
    const { writer } = writing();
    await writer.speak([text('One.'), recording('bell.wav'), recording('missing.wav')]);
    expect(writer.saidTexts).toEqual(['One.']);
  });

  it('lack one that was interrupted before its first sound', async () => {
    const { turn, writer } = writing();
    const spoken = writer.speak([text('Streamed.')]);
    await flushMicrotasks();
    turn.interrupt();
    await spoken;
    expect(writer.saidTexts).toEqual([]);
  });
});

describe('a client that does not read', () => {
  it('G-37 holds the floor for prompts that may not be cut, until the last of them is out', async () => {
    const { turn, writer, sink } = writing();
    sink.isFull = true;
    const spoken = writer.speak([text('Yes.'), text('No.', false), text('Yes again.')]);
    const held: boolean[] = [];
    for (let prompts = 0; prompts < 3; prompts += 1) {
      await flushMicrotasks();
      held.push(turn.holdsFloor);
      sink.drain();
      sink.isFull = true;
    }
    await spoken;
    expect(held).toEqual([true, true, false]);
  });

  it('G-91 ends the reply after its time, which the error names', async () => {
    const { clock, writer, sink } = writing();
    sink.isFull = true;
    const failed = expect(writer.speak([text('Hello?')])).rejects.toMatchObject({ code: 'slow_reader', details: { limitMs: 10_000 } });
    await clock.advanceAsync(10_000);
    await failed;
  });
});
