// An assistant: a language model that answers the phone of a bicycle shop, knows its opening hours and takes messages.
import { assistant, tool, z, type LanguageModel } from 'parley-voice/ai';
import { model as configured } from './lib/model.ts';

const WEEKEND: Readonly<Record<string, string>> = { saturday: 'ten to two', sunday: 'closed' };

/** With any model; the tests give it one whose answers are written down. */
export const desk = (model: LanguageModel) =>
  assistant({
    // Stored in the platform's flows: it must never change.
    id: 'desk',
    name: 'Desk',
    model,
    instructions: 'You answer the phone of a bicycle shop. You tell its opening hours and take messages, and nothing else.',
    greeting: 'Hello, this is the bicycle shop. What can I do for you?',
    tools: {
      opening_hours: tool({
        description: 'When the shop is open on a day of the week',
        input: z.object({ day: z.string() }),
        readOnly: true,
        run: ({ day }) => WEEKEND[day.toLowerCase()] ?? 'nine to six',
      }),
      // Changes something: it runs once, whatever the caller does meanwhile. A real one would keep the message under `useId`.
      take_message: tool({
        description: 'Takes a message for a colleague',
        input: z.object({ message: z.string() }),
        says: 'One moment.',
        run: (_, { useId, log }) => {
          log.info({ useId }, 'a message was taken');
          return 'taken';
        },
      }),
    },
    transfer: true,
  });

export default desk(configured);
