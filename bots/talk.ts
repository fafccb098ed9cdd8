// Speech to speech: a model that hears the caller and answers in its own voice. The tests give it a fake one.
import { realtime, tool, z } from 'parley-voice/ai';
import { realtimeModel } from './lib/model.ts';
import { practice } from './lib/practice.ts';

const book_slot = tool({
  description: 'Books',
  input: z.object({ slot: z.string() }),
  run: (given, { useId }) => practice.book(given.slot, useId),
});

export const talk = (at: typeof realtimeModel) =>
  realtime({ id: 'talk', name: 'Talk', ...at, instructions: 'You book dentist appointments.', greeting: 'Hello.', tools: { book_slot } });

export default talk(realtimeModel);
