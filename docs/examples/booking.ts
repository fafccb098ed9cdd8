// Does something that must happen once: the checkpoint before it says that it has begun, the one after it what came of it.
import { bot, go, keep, say } from 'parley-voice';
import { book } from './lib/appointments.ts';

interface State {
  /** Names the request for ever, once it has begun. */
  readonly request?: string;
  /** The number of the booking. */
  readonly number?: number;
}

export default bot<State>({
  id: 'booking',
  name: 'Booking',
  version: 1,

  session_start: () => go({}, say('Press 1 to book Tuesday at nine.').listen()),

  async *dtmf_input(state, { digits }, { turnId }) {
    if (digits !== '1') return go(state, say('Press 1 to book.').listen());
    if (state.number !== undefined) return go(state, say(`You have booking ${String(state.number)} already.`).end());
    const request = state.request ?? turnId;
    yield keep({ request }, { durable: true });
    yield say('One moment.');
    const number = await book('tuesday-9', request);
    yield keep({ request, number });
    return go({ request, number }, say(`That is booking ${String(number)}. Goodbye.`).end('booked'));
  },

  otherwise: (state) => go(state, say('Press 1 to book.').listen()),
});
