// A provider of the AI SDK in front of an assistant, over HTTP. `npm run check -- package` runs this file in a project of a stranger as well,
// with the line of providers that suits each version of Node.
import { createRequire } from 'node:module';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { expect, it, onTestFinished } from 'vitest';
import { fakeModels } from 'parley-voice/platform';
import { TestCall } from 'parley-voice/testing';
import { desk } from '../../../template/ai/bots/desk.ts';

it('an assistant answers and uses tools with a model of a provider, of specification v3 or v4', async () => {
  const rules = [
    { after: 'opening_hours', when: 'closed', say: 'On Sunday we are closed.' },
    { use: 'opening_hours', input: { day: 'Sunday' } },
  ];
  const models = await fakeModels({ rules });
  onTestFinished(() => models.close());
  const model = createOpenAICompatible({ name: 'fake', baseURL: models.url, includeUsage: true })('fake');
  const { version } = createRequire(import.meta.url)('@ai-sdk/openai-compatible/package.json') as { readonly version: string };
  expect(model.specificationVersion).toBe(version.startsWith('2.') ? 'v3' : 'v4');
  const call = await new TestCall(desk(model)).start();
  (await call.speak('Are you open on Sunday?')).hears('On Sunday we are closed.');
  const { tokens } = call.state as { readonly tokens: number };
  expect(tokens).toBeGreaterThan(5);
  expect(models.journal.map(({ use, say }) => use ?? say)).toEqual(['opening_hours', 'On Sunday we are closed.']);
});
