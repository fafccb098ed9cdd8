// Transfers the caller with a reason for reports, a summary for the agent's screen, fields for the flow, and a hint for routing.
import { bot, go, say } from 'parley-voice';

interface State {
  readonly topic?: 'bill' | 'fault';
}

const TOPICS = { '1': 'bill', '2': 'fault' } as const;

export default bot<State>({
  id: 'transfer',
  name: 'Transfer',
  version: 1,

  session_start: () => go({}, say('Press 1 for a question about your bill, or 2 to report a fault.').listen({ digits: 1 })),

  dtmf_input: (state, { digits }, { call }) => {
    const topic = digits === '1' || digits === '2' ? TOPICS[digits] : undefined;
    if (topic === undefined) return go(state, say('Press 1 or 2, please.').listen({ digits: 1 }));
    const reply = say('I am connecting you.').transfer({
      reason: topic,
      summary: `The caller has chosen: ${topic}.`,
      routingHint: `queue-${topic}`,
      // What the flow sent with the start of the session may travel along.
      fields: { topic, language: call.parameters['language'] ?? 'en' },
    });
    return go({ topic }, reply);
  },

  otherwise: (state) => go(state, say('I am connecting you.').transfer({ reason: 'no choice' })),
});
