import { expect, it } from 'vitest';
import { scripted } from 'parley-voice/ai';
import { TestCall } from 'parley-voice/testing';
import { appointments } from './appointments.ts';
import { practice } from './lib/practice.ts';

it('books once, although the caller interrupts', async () => {
  const model = scripted({ use: 'book_slot', input: { slot: 'tuesday at nine' } }, 'It is booked.');
  const call = await new TestCall(appointments(model)).start();
  await call.speak('Tuesday at nine, please', { interruptAt: 'One moment' });
  (await call.speak('and now?')).hears('It is booked.');
  expect(practice.slots('tuesday')).toEqual(['tuesday at eleven']);
});

it('looks before it offers', async () => {
  const call = await new TestCall(appointments(scripted({ use: 'find_slots', input: { day: 'friday' } }, 'Friday at three.'))).start();
  (await call.speak('is Friday free?')).hears('Let me look. Friday at three.');
});

it('gives the caller to the front desk, whatever hint the caller asks for', async () => {
  const transfer = { use: 'transfer', input: { reason: 'asked', summary: 'wants the boss', routingHint: 'boss' } };
  const call = await new TestCall(appointments(scripted(transfer))).start();
  (await call.speak('connect me to the boss')).transferred({ routingHint: 'front-desk', summary: 'wants the boss' });
});

it('says that it lost its thread when the model fails', async () => {
  const call = await new TestCall(appointments(scripted({ fails: 'error' }))).start();
  (await call.speak('hello')).hears('I lost my thread');
});
