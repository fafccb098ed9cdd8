// Books appointments for a dentist: a language model that talks, looks and books.
import { assistant, tool, z, type LanguageModel } from 'parley-voice/ai';
import { model as configured } from './lib/model.ts';
import { practice } from './lib/practice.ts';

/** With any model; the tests give it one whose answers are written down. */
export const appointments = (model: LanguageModel) =>
  assistant({
    id: 'appointments',
    name: 'Appointments',
    model,
    instructions: 'You book dentist appointments. Offer two times at most. Book only what the caller has agreed to.',
    greeting: 'Hello, this is the dental practice. How can I help you?',
    tools: {
      find_slots: tool({
        description: 'Free appointments of a weekday',
        input: z.object({ day: z.string() }),
        readOnly: true,
        says: 'Let me look.',
        run: ({ day }) => practice.slots(day),
      }),
      book_slot: tool({
        description: 'Books an appointment',
        input: z.object({ slot: z.string() }),
        says: 'One moment.',
        run: ({ slot }, { useId }) => practice.book(slot, useId),
      }),
    },
    transfer: { to: (given) => ({ ...given, routingHint: 'front-desk' }) },
  });

export default appointments(configured);
