import { expect, it } from 'vitest';
import { TestCall } from 'parley-voice/testing';
import hello from './hello.ts';

it('counts keys and transfers the caller', async () => {
  const call = await new TestCall(hello).start();
  (await call.press('7')).hears('You pressed 7.');
  (await call.press('0')).transferred({ reason: 'asked', summary: 'The caller pressed 1 keys.' });
});

it('asks again after silence', async () => {
  const call = await new TestCall(hello).start();
  (await call.silence()).hears('Press a key');
  expect(call.reply.next.kind).toBe('listen');
});
