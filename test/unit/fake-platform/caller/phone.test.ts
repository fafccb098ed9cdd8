import { describe, expect, it } from 'vitest';
import { CallerAgain, callerScript } from '../../../../src/fake-platform/caller/caller-again.ts';
import { JitterBuffer } from '../../../../src/fake-platform/caller/microphone.ts';
import type { Phone } from '../../../../src/fake-platform/caller/phone.ts';
import type { HeldCallOptions } from '../../../../src/fake-platform/caller/caller.ts';
import { decodeMulaw } from '../../../../src/speech/g711.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { tone } from '../../../support/call-lab.ts';
import { audioFrames, config, event, FakeCall, finished, prompt, type FakeTurn } from '../../../support/fake-line.ts';
import { joined } from '../../../support/line-signals.ts';

const FRAME_MS = 20;

/** A call of a real person; the welcome lasts 1000 ms. */
function phoned(options: Partial<HeldCallOptions> = {}, bargeIn = false) {
  const heard: Uint8Array[] = [];
  let held: Phone | undefined;
  const call = new FakeCall({ onPhone: (phone) => (held = phone), onHeard: (frame) => heard.push(frame), ...options });
  call.turn(1).answer({ prompts: [prompt(1000, bargeIn)], config: config({ digits: 1 }) });
  call.turn(1).complete();
  if (held === undefined) throw new Error('no phone was given');
  return { call, phone: held, heard };
}

const frames = (mulaw: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: mulaw.length / 160 }, (_, index) => mulaw.subarray(index * 160, (index + 1) * 160));

/** The person speaks: frames at the pace of a microphone. */
async function speaks({ call, phone }: ReturnType<typeof phoned>, mulaw: Uint8Array): Promise<void> {
  for (const frame of frames(mulaw)) {
    phone.hear(frame);
    await call.clock.advanceAsync(FRAME_MS);
  }
}

const spoken = (turn: FakeTurn): Uint8Array => joined(...audioFrames(turn).filter((frame) => frame.some((code) => code !== 0xff)));

describe('the jitter buffer', () => {
  it('begins with the third frame, and fills again after it ran empty', () => {
    const buffer = new JitterBuffer();
    const [first, second, third] = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)];
    buffer.push(first);
    buffer.push(second);
    expect(buffer.take()).toBeUndefined();
    buffer.push(third);
    expect([buffer.take(), buffer.take(), buffer.take(), buffer.take()]).toEqual([first, second, third, undefined]);
    buffer.push(first);
    expect(buffer.take()).toBeUndefined();
  });

  it('keeps at most 200 ms, of which the latest 60 ms are left', () => {
    const buffer = new JitterBuffer();
    for (let number = 1; number <= 11; number += 1) buffer.push(Uint8Array.of(number));
    expect(Array.from({ length: 4 }, () => buffer.take()?.[0])).toEqual([9, 10, 11, undefined]);
  });
});

describe('the phone of a real person', () => {
  it('sends the frames of its microphone to the turn that listens, and silence when none come', async () => {
    const person = phoned();
    const { call } = person;
    await call.clock.advanceAsync(1500);
    await speaks(person, tone(400));
    await call.clock.advanceAsync(500);
    expect(spoken(call.turn(2))).toEqual(tone(400));
    expect(call.turn(2).kinds).toEqual(['audio_format', 'probe', 'silence', 'speech', 'silence']);
    person.phone.hangUp();
    const { said, outcome } = await finished(call);
    expect(outcome).toBe('hung_up');
    expect(Buffer.from(said.buffer).includes(Buffer.from(decodeMulaw(tone(400)).buffer))).toBe(true);
  });

  it('G-51 drops speech while a prompt plays that may not be interrupted', async () => {
    const person = phoned();
    await speaks(person, tone(400));
    await person.call.clock.advanceAsync(200);
    expect(person.call.turns.flatMap(({ kinds }) => kinds)).not.toContain('speech');
    person.phone.hangUp();
    await finished(person.call);
  });

  it('plays what the caller hears, as the playout clock plays it, and no more of a prompt that is interrupted', async () => {
    const person = phoned({}, true);
    const { call, heard } = person;
    await call.clock.advanceAsync(400);
    call.turn(2).answer({ type: 'chunk', ...event('start_of_input') });
    await call.clock.advanceAsync(600);
    expect(joined(...heard)).toEqual(tone(1000).subarray(0, 400 * 8));
    person.phone.hangUp();
    await finished(call);
  });

  it('presses keys, and says a ready sound in place of the microphone', async () => {
    const person = phoned();
    const { call, phone } = person;
    await call.clock.advanceAsync(1100);
    phone.say(tone(200), '"hello"');
    await speaks(person, tone(300, 1000));
    expect(spoken(call.turn(2)).subarray(0, 1600)).toEqual(tone(200));
    phone.press('5');
    expect(call.turns.some(({ kinds }) => kinds.includes('dtmf_start'))).toBe(true);
    phone.hangUp();
    const { timeline } = await finished(call);
    expect(timeline.filter(({ who }) => who === 'caller').map(({ what, detail }) => [what, detail])).toEqual([
      ['speaks', '"hello"'],
      ['falls_silent', undefined],
      ['presses', '5'],
      ['hangs_up', undefined],
    ]);
  });
});

describe('the same caller again', () => {
  it('speaks, presses and hangs up as long after each reply as before, however fast the bot is now', async () => {
    const first = phoned();
    await first.call.clock.advanceAsync(1500);
    await speaks(first, tone(400));
    first.call.turn(2).answer(event('start_of_input'));
    await first.call.clock.advanceAsync(500);
    first.call.turn(2).answer({ prompts: [prompt(300)], config: config({ digits: 1 }) });
    first.call.turn(2).complete();
    await first.call.clock.advanceAsync(700);
    first.phone.press('7');
    await first.call.clock.advanceAsync(100);
    first.phone.hangUp();
    const script = callerScript(await finished(first.call));

    const clock = new FakeClock();
    let again: CallerAgain | undefined;
    const options: Partial<HeldCallOptions> = {
      onPhone: (phone) => {
        again = new CallerAgain(script, phone, clock);
        again.goOn();
      },
      onReply: () => again?.goOn(),
    };
    const call = new FakeCall(options, clock);
    await clock.advanceAsync(2000);
    call.turn(1).answer({ prompts: [prompt(500)], config: config({ digits: 1 }) });
    call.turn(1).complete();
    await clock.advanceAsync(2500);
    expect(spoken(call.turn(2))).toEqual(tone(400));
    call.turn(2).answer({ prompts: [prompt(300)], config: config({ digits: 1 }) });
    call.turn(2).complete();
    await clock.advanceAsync(2000);
    const { timeline } = await finished(call);
    const starts = timeline.filter(({ what }) => what === 'prompt').map(({ atMs }) => atMs);
    const did = timeline.filter(({ what }) => what === 'presses' || what === 'hangs_up');
    expect(did.map(({ what, detail, atMs }) => [what, detail, atMs - (starts[1] ?? 0)])).toEqual([
      ['presses', '7', 700],
      ['hangs_up', undefined, 800],
    ]);
    again?.stop();
  });
});
