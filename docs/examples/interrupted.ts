// Asks again somebody who interrupts the conditions: every event says how much of the last reply was heard. `barge_in` has no reply.
import { bot, go, say } from 'parley-voice';

interface State {
  readonly interruptions: number;
}

const CONDITIONS = 'The contract runs for a year and ends by itself. Press 1 to agree.';

export default bot<State>({
  id: 'interrupted',
  name: 'Interrupted',
  version: 1,
  prompts: [CONDITIONS],

  session_start: () => go({ interruptions: 0 }, say(CONDITIONS).listen({ digits: 1 })),

  barge_in: (state) => ({ interruptions: state.interruptions + 1 }),

  dtmf_input: (state, { digits, heard }) => {
    if (digits !== '1') return go(state, say('Goodbye.').end('declined'));
    if (heard.complete) return go(state, say('Thank you. Goodbye.').end('agreed'));
    // Protected, so that this time it is heard to the end.
    return go(state, say('I must read this to the end.', { bargeIn: false }).say(CONDITIONS, { bargeIn: false }).listen({ digits: 1 }));
  },

  otherwise: (state) => go(state, say(CONDITIONS).listen({ digits: 1 })),
});
