import { expect, it } from 'vitest';
import { scripted } from 'parley-voice/ai';
import { TestCall } from 'parley-voice/testing';
import { desk } from './desk.ts';

it('looks up the opening hours, and tells them to the model', async () => {
  const model = scripted({ use: 'opening_hours', input: { day: 'Sunday' } }, 'We are closed on Sunday.');
  const call = await new TestCall(desk(model)).start();
  call.hears('bicycle shop');
  (await call.speak('Are you open on Sunday?')).hears('We are closed on Sunday.');
  expect(JSON.stringify(model.asked[1]?.prompt)).toContain('closed');
});

it('transfers a caller who asks for a person, with the summary of the model', async () => {
  const model = scripted({ use: 'transfer', input: { reason: 'asked', summary: 'Wants a repair.' } });
  const call = await new TestCall(desk(model)).start();
  (await call.speak('A person, please')).transferred({ reason: 'asked', summary: 'Wants a repair.' });
});

it('says what the caller can do when the model fails, and transfers the second time', async () => {
  const call = await new TestCall(desk(scripted({ fails: 'error' }, { fails: 'error' }))).start();
  (await call.speak('hello')).hears('Sorry, I lost my thread.');
  (await call.speak('hello?')).transferred({ reason: 'the model failed' });
});
