import { describe, expect, it } from 'vitest';
import { TestCall } from 'parley-voice/testing';
import codeLine from './code-line.ts';

const started = () => new TestCall(codeLine).start();

describe('code line', () => {
  it('asks for four digits and marks them as sensitive', async () => {
    const call = (await started()).hears(/four digit code/);
    expect(call.reply.next).toMatchObject({ kind: 'listen', digits: 4, sensitive: true });
  });

  it('reads the code back and ends when it is confirmed', async () => {
    const call = (await (await started()).press('1234')).hears('You entered 1 2 3 4.');
    (await call.press('1')).hears('Thank you').ended('confirmed');
  });

  it('asks again when the code was wrong', async () => {
    const call = await (await (await started()).press('1234')).press('2');
    call.hears(/four digit code/);
    (await call.press('9876')).hears('9 8 7 6');
  });

  it('gets a person for 0', async () => {
    (await (await started()).press('0')).transferred({ reason: 'asked' });
  });

  it('gets a person after three silences', async () => {
    const call = await started();
    (await call.silence()).hears(/four digits please/);
    await call.silence();
    (await call.silence()).transferred({ reason: 'no input' });
  });

  it('asks again for letters, too few digits and speech', async () => {
    const call = await started();
    (await call.press('12')).hears(/four digits please/);
    (await call.speak('twelve thirty four')).hears(/four digits please/);
  });
});
