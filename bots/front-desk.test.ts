import { describe, expect, it } from 'vitest';
import { TestCall } from 'parley-voice/testing';
import frontDesk from './front-desk.ts';

const started = () => new TestCall(frontDesk).start();

describe('front desk', () => {
  it('opens with a chime and the menu', async () => {
    const call = (await started()).hears('[chime.wav]').hears(/Welcome to the front desk/);
    expect(call.reply.next).toMatchObject({ kind: 'listen', digits: 1 });
  });

  it.each([
    ['1', /nine to five/],
    ['2', /Harbour Street/],
  ])('answers key %s and offers the menu again', async (key, heard) => {
    (await (await started()).press(key)).hears(heard).hears(/Press 1/);
  });

  it.each([
    ['when do you open?', /nine to five/],
    ['where can I find you', /Harbour Street/],
  ])('answers "%s" like its key', async (text, heard) => {
    (await (await started()).speak(text)).hears(heard);
  });

  it('connects a person for 0, with a summary of what was asked', async () => {
    const call = await (await started()).press('1');
    (await call.press('0'))
      .hears('connect you')
      .transferred({ reason: 'asked', summary: 'The caller has heard: hours.', routingHint: 'front_desk' });
  });

  it('connects a person who asks for one by voice', async () => {
    (await (await started()).speak('an agent please')).transferred({ summary: 'The caller asked for a person at once.' });
  });

  it('says goodbye for 9', async () => {
    (await (await started()).press('9')).hears('Goodbye').ended('served');
  });

  it('connects a person when it did not understand three times', async () => {
    const call = await started();
    (await call.press('7')).hears('Sorry');
    (await call.speak()).hears('Sorry');
    (await call.silence()).transferred({ reason: 'not understood' });
  });

  it('forgives old misses once it has understood', async () => {
    const call = await started();
    await call.press('7');
    await call.press('7');
    await call.press('1');
    (await call.press('7')).hears('Sorry');
  });
});
