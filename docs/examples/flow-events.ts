// Talks with the platform's flow: an event of ours travels with a reply, and an event of the flow comes in as `custom_event`. The authors
// of bot and flow agree on the names.
import { bot, go, listen, say } from 'parley-voice';

interface State {
  readonly customer?: string;
}

export default bot<State>({
  id: 'flow-events',
  name: 'Flow events',
  version: 1,

  // Data that the flow sets before the call reaches the bot comes with the start.
  session_start: ({ parameters }) =>
    go(
      {},
      say(parameters['isKnown'] === true ? 'Welcome back.' : 'Welcome.').listen({
        event: { name: 'find_customer', metadata: { by: 'number' } },
      }),
    ),

  custom_event: (state, { name, parameters }) => {
    const customer = parameters['name'];
    if (name !== 'customer_found' || typeof customer !== 'string') return go(state, listen());
    return go({ customer }, say(`Hello ${customer}. What can I do for you?`).listen());
  },

  otherwise: (state) => go(state, say('I will get someone.').transfer({ reason: 'asked', fields: { customer: state.customer ?? '' } })),
});
