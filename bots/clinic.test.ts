import { expect, it } from 'vitest';
import { scripted } from 'parley-voice/ai';
import { TestCall } from 'parley-voice/testing';
import { clinic } from './clinic.ts';

it('takes a card without showing it to the model, and goes on', async () => {
  const model = scripted({ say: 'Gladly.', use: 'take_card', input: { euros: 80 } }, 'It is paid.');
  const call = await new TestCall(clinic(model)).start();
  (await call.press('1')).hears('Your bill is open.');
  (await call.speak('I want to pay')).hears('Gladly. Please key in your card number.');
  (await call.press('12')).hears('Please key in your card number.');
  (await call.press('4111111111111234')).hears('It is paid.');
  expect(JSON.stringify([model.asked, call.state])).not.toContain('411111');
  expect(JSON.stringify(model.asked[1])).toContain('1234');
});

it('asks again for the key that it offers', async () => {
  (await (await new TestCall(clinic(scripted())).start()).silence()).hears('Press 1');
});
