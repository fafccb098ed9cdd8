import { describe, it } from 'vitest';
import { TestCall } from 'parley-voice/testing';
import menu from './menu.ts';

describe('menu', () => {
  it('says the opening hours and offers the menu again', async () => {
    const call = (await new TestCall(menu).start()).hears('Welcome');
    (await call.press('1')).hears(/nine to five.*Press 1/);
  });

  it('gets a person for 0, and after three misses', async () => {
    (await (await new TestCall(menu).start()).press('0')).transferred({ reason: 'asked' });
    const call = await new TestCall(menu).start();
    await call.silence();
    (await call.speak('what?')).hears('Sorry');
    (await call.press('7')).transferred({ reason: 'not understood' });
  });
});
