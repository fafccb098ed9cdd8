// Evaluates the bundled assistant. Both models are fakes here, so that it runs everywhere; put real ones in their places.
import { expect, it, onTestFinished } from 'vitest';
import { chatModel } from 'parley-voice/ai';
import { evaluate } from 'parley-voice/evaluation';
import { fakeModels, type ModelScript } from 'parley-voice/platform';
import { appointments } from '../../bots/appointments.ts';

async function model(rules: ModelScript['rules']) {
  const models = await fakeModels({ rules });
  onTestFinished(() => models.close());
  return chatModel({ url: models.url, model: 'fake' });
}

it('books once, although its callers interrupt', async () => {
  const assistant = await model([
    { after: 'book_slot', say: 'It is booked.' },
    { use: 'book_slot', input: { slot: 'friday at three' } },
  ]);
  const caller = await model([{ when: 'booked', say: '[hang up]' }, { say: 'Friday at three, please.' }]);
  const evaluated = await evaluate(appointments(assistant), {
    persona: { model: caller, brief: 'In a hurry.', goal: 'An appointment on Friday.', interrupts: 0.4 },
    runs: 5,
    expect: {
      ends: 'hung_up',
      tools: { book_slot: { times: 1, with: { slot: 'friday at three' } } },
      toolsNot: ['transfer'],
      saysNot: [/as an ai/i],
    },
  });
  expect(evaluated.rate, String(evaluated)).toBeGreaterThanOrEqual(0.9);
});
