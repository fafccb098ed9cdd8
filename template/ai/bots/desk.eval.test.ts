// How often the assistant is right, with callers whom a model plays: the fakes of models.yaml, or with MODEL_URL the real one.
import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { chatModel, type LanguageModel } from 'parley-voice/ai';
import { evaluate } from 'parley-voice/evaluation';
import { fakeModels, readModelScript, type ModelScript } from 'parley-voice/platform';
import { desk } from './desk.ts';
import { isReal, model as configured } from './lib/model.ts';

async function model(script: ModelScript): Promise<LanguageModel> {
  if (isReal) return configured;
  const models = await fakeModels({ ...script, delays: {} });
  onTestFinished(() => models.close());
  return chatModel({ url: models.url, model: 'fake' });
}

it('knows that it is closed on Sundays, nine times in ten', { timeout: 600_000 }, async () => {
  const assistant = await model(readModelScript(await readFile(new URL('../models.yaml', import.meta.url), 'utf8')));
  const caller = await model({ rules: [{ when: 'closed', say: '[hang up]' }, { say: 'Are you open on Sunday?' }] });
  const evaluated = await evaluate(desk(assistant), {
    persona: { model: caller, brief: 'Friendly, in a hurry.', goal: 'To know whether the shop is open on Sunday.', interrupts: 0.2 },
    runs: isReal ? 20 : 3,
    expect: { ends: 'hung_up', tools: { opening_hours: {} }, toolsNot: ['transfer'], saysNot: [/as an ai/i] },
  });
  expect(evaluated.rate, String(evaluated)).toBeGreaterThanOrEqual(0.9);
});
