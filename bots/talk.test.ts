import { expect, it, onTestFinished } from 'vitest';
import { fakeModels, type ModelScript } from 'parley-voice/platform';
import { TestCall } from 'parley-voice/testing';
import { practice } from './lib/practice.ts';
import { talk } from './talk.ts';

async function called(script: ModelScript) {
  const models = await fakeModels(script);
  const bot = talk({ url: models.realtimeUrl, model: 'fake', transcribe: 'any' });
  const call = await new TestCall(bot, { conversationId: 'talk' }).start();
  onTestFinished(async () => {
    await call.hangUp();
    await models.close();
  });
  return { call, models };
}

it('books what the caller says, and answers in its own voice', async () => {
  const rules = [
    { when: 'friday', use: 'book_slot', input: { slot: 'friday at four' } },
    { after: 'book_slot', say: 'It is booked for you.' },
  ];
  const { call, models } = await called({ heard: ['Friday at four, please'], rules });
  (await call.speak()).hears('[audio]');
  expect(models.conversations[0]?.map(({ text }) => text)).toEqual([
    ...['Hello.', 'Friday at four, please', 'book_slot', 'booked friday at four', 'It is booked for you.'],
  ]);
  expect(practice.slots('friday')).not.toContain('friday at four');
});

it('tells the model how much of its words the caller heard', async () => {
  const rules = [{ when: 'hello', say: 'One two three four five six seven.' }, { say: 'Yes?' }];
  const { call, models } = await called({ heard: ['hello', 'what?'], rules });
  await call.speak();
  await call.interrupt('speech', { ms: 700 });
  await call.speak();
  expect(models.conversations[0]?.map(({ text }) => text)).toEqual(['Hello.', 'hello', 'One two three', 'what?', 'Yes?']);
  expect(call.state).toMatchObject({ messages: expect.arrayContaining([expect.objectContaining({ text: 'One two three —' })]) as unknown });
});

it('goes on when the connection is lost', async () => {
  const rules = [{ when: 'hello', say: 'Good morning.' }, { say: 'It is nine.' }];
  const { call, models } = await called({ heard: ['hello', 'what time?'], rules, faults: [{ on: 'realtime', nth: 2, kind: 'cut' }] });
  await call.speak();
  (await call.speak()).hears('I lost my thread');
  (await call.speak()).hears('[audio]');
  expect(models.conversations[1]?.map(({ text }) => text).slice(0, 3)).toEqual(['Hello.', 'hello', 'Good morning.']);
});
