// Every other example does what the page says of it.
import { describe, expect, it } from 'vitest';
import { TestCall } from 'parley-voice/testing';
import accountNumber from './account-number.ts';
import booking from './booking.ts';
import directory from './directory.ts';
import flowEvents from './flow-events.ts';
import transfer from './transfer.ts';
import interrupted from './interrupted.ts';
import modelAnswer from './model-answer.ts';
import orderStatus from './order-status.ts';
import recordings from './recordings.ts';
import spanish from './spanish.ts';
import speechToSpeech from './speech-to-speech.ts';
import survey from './survey.ts';
import waitingRoom from './waiting-room.ts';

describe('directory', () => {
  it('connects by name, and asks again when it did not get one', async () => {
    const call = await new TestCall(directory).start();
    (await call.speak('er')).hears('did not get the name');
    (await call.speak()).hears('did not get the name');
    (await call.speak('Ms. Miller, please')).transferred({ reason: 'by name', routingHint: 'sales' });
  });

  it('climbs the ladder while nothing comes', async () => {
    const call = await new TestCall(directory).start();
    (await call.silence()).hears('still there');
    (await call.silence()).hears('say a name');
    (await call.silence()).transferred({ reason: 'no name' });
  });
});

describe('waiting room', () => {
  it('speaks into the silence, and connects when somebody is free', async () => {
    const call = await new TestCall(waitingRoom, {}, { clock: 'fake' }).start();
    await call.advance(45_000);
    call.transferred({ reason: 'a person is free' });
    expect(call.said.map(({ text }) => text)).toEqual(['You are third in the queue.', 'You are number 2 now.', 'Thank you for waiting.']);
  });
});

describe('account number', () => {
  it('takes pressed digits as they are and goes on to a PIN that is kept secret', async () => {
    const call = await new TestCall(accountNumber).start();
    (await call.press('123456')).hears('PIN');
    expect(call.reply.next).toMatchObject({ kind: 'listen', digits: 4, accept: 'keys', sensitive: true });
    (await call.press('0815')).transferred({ reason: 'account and PIN entered' });
    expect(JSON.stringify(call.state)).not.toContain('0815');
  });

  it('has spoken digits confirmed', async () => {
    const call = await new TestCall(accountNumber).start();
    (await call.speakDigits('123456')).hears('I heard 1 2 3 4 5 6');
    (await call.press('2')).hears('account number');
    await call.speakDigits('654321');
    (await call.press('1')).hears('PIN');
  });

  it('asks again for too few digits', async () => {
    (await (await new TestCall(accountNumber).start()).press('12')).hears('six digit');
  });
});

describe('model answer', () => {
  it('is spoken sentence by sentence, and the history has what was heard of it', async () => {
    const call = await new TestCall(modelAnswer).start();
    await call.speak('opening hours');
    expect(call.prompts.map((prompt) => 'text' in prompt && prompt.text)).toEqual([
      'You asked about opening hours.',
      'We are open from nine to five, every day but Sunday.',
      'Is there anything else?',
    ]);
    await call.interrupt('speech', { text: 'You asked about opening hours. We are' });
    await call.speak('no');
    expect(call.state).toEqual({
      history: ['bot: What would you like to know?', 'caller: opening hours', 'bot: You asked about opening hours. We are', 'caller: no'],
    });
  });
});

describe('booking', () => {
  it('books once, also when the caller talks into the booking', async () => {
    const call = await new TestCall(booking).start();
    const pressed = call.press('1');
    await call.interrupt();
    await pressed;
    const request = expect.stringContaining('test-conversation') as unknown;
    expect(call.kept).toEqual([{ request }, { request, number: 1 }]);
  });

  it('knows in its next turn what it has booked', async () => {
    const call = await new TestCall(booking, { conversationId: 'other' }).start();
    (await call.press('1')).hears('That is booking 2').ended('booked');
  });
});

describe('order status', () => {
  it('speaks before it answers', async () => {
    const call = await new TestCall(orderStatus).start();
    (await call.press('4711')).hears(/^One moment.*packed and leaves today/).ended('answered');
  });

  it('asks again for an order that is not there', async () => {
    (await (await new TestCall(orderStatus).start()).press('0000')).hears('cannot find');
  });

  it('stops asking when the caller talks on', async () => {
    const call = await new TestCall(orderStatus).start();
    const asked = call.press('4711');
    await call.interrupt();
    expect((await asked).heard).toBe('One moment, I am looking that up.');
    (await call.press('4711')).hears('packed and leaves today').ended('answered');
  });
});

describe('transfer', () => {
  it('transfers with what is known', async () => {
    const call = await new TestCall(transfer, { parameters: { language: 'de' } }).start();
    (await call.press('2')).transferred({
      reason: 'fault',
      summary: 'The caller has chosen: fault.',
      routingHint: 'queue-fault',
      fields: { topic: 'fault', language: 'de' },
    });
  });
});

describe('recordings', () => {
  it('plays a file and what the caller said', async () => {
    const call = (await new TestCall(recordings).start()).hears('[chime.wav] This call may be recorded.');
    expect(call.prompts.map(({ bargeIn }) => bargeIn)).toEqual([false, false, true]);
    (await call.speak('hello')).hears('You said: [audio]');
    (await call.silence()).ended();
  });
});

describe('flow events', () => {
  it('sends an event with the welcome and greets the customer that the flow finds', async () => {
    const call = await new TestCall(flowEvents).start();
    expect(call.reply.next).toMatchObject({ event: { name: 'find_customer', metadata: { by: 'number' } } });
    (await call.custom('customer_found', { name: 'Ada' })).hears('Hello Ada');
    (await call.press('0')).transferred({ fields: { customer: 'Ada' } });
  });

  it('stays silent for events it does not know', async () => {
    const call = await new TestCall(flowEvents).start();
    expect((await call.custom('music_on')).heard).toBe('');
  });
});

describe('interrupted', () => {
  it('lets only those agree who have heard the conditions', async () => {
    const call = await new TestCall(interrupted).start();
    await call.interrupt('keys', { ms: 900, text: 'The contract runs' });
    (await call.press('1')).hears('read this to the end');
    expect(call.state).toEqual({ interruptions: 1 });
    (await call.press('1')).ended('agreed');
  });
});

describe('survey', () => {
  it('brings a state of version 1 into the shape of version 2, and no other', () => {
    expect(survey.migrate({ mark: 4 }, 1)).toEqual({ marks: [4] });
    expect(survey.migrate({ mark: null }, 1)).toEqual({ marks: [] });
    expect(survey.migrate({ marks: [] }, 3)).toBeUndefined();
  });

  it('asks both questions', async () => {
    const call = await new TestCall(survey).start();
    (await call.press('9')).hears('waiting time');
    (await call.press('3')).hears('advice');
    (await call.press('5')).ended('answered');
  });
});

describe('speech to speech', () => {
  it('reports the start and the end of speech to the engine, and answers with what was said', async () => {
    const call = await new TestCall(speechToSpeech).start();
    const frame = (level: number) => new Int16Array(160).fill(level);
    call.audio(frame(0)).audio(frame(9000));
    expect(call.reported).toEqual(['speech_started']);
    for (let frames = 0; frames < 20; frames += 1) call.audio(frame(0));
    expect(call.reported).toEqual(['speech_started', 'speech_ended']);
    (await call.speak()).hears('You said: [audio]');
    // Elsewhere the model is another one, which starts from nothing.
    call.audio(frame(9000));
    await call.move();
    call.audio(frame(9000));
    expect(call.reported.slice(2)).toEqual(['speech_started', 'speech_started']);
    await call.hangUp();
  });
});

describe('spanish', () => {
  it('speaks Spanish, and English to those who want it', async () => {
    expect(spanish.speaks).toEqual({ language: 'es-MX' });
    const call = await new TestCall(spanish).start();
    (await call.press('4711')).hears('4, 7, 1, 1').ended();
    (await (await new TestCall(spanish).start()).press('*')).transferred({ reason: 'English' });
    (await (await new TestCall(spanish).start()).speak('hola')).hears('¿Cómo dice?');
  });
});
