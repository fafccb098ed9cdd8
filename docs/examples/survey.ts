// A state that has changed its shape: `migrate` lets calls go on that began with version 1; without it they would start over.
import { bot, go, say } from 'parley-voice';

interface State {
  readonly marks: readonly number[];
}

const QUESTIONS = ['How was the waiting time? Press 1 to 5.', 'How was our advice? Press 1 to 5.'];

export default bot<State>({
  id: 'survey',
  name: 'Survey',
  version: 2,
  prompts: QUESTIONS,

  migrate: (state, fromVersion) => {
    if (fromVersion !== 1 || typeof state !== 'object' || state === null || !('mark' in state)) return undefined;
    const { mark } = state;
    return { marks: typeof mark === 'number' ? [mark] : [] };
  },

  session_start: () => ask({ marks: [] }),

  dtmf_input: (state, { digits }) => (/^[1-5]$/.test(digits) ? ask({ marks: [...state.marks, Number(digits)] }) : ask(state)),

  otherwise: ask,
});

function ask(state: State) {
  const question = QUESTIONS[state.marks.length];
  return go(state, question === undefined ? say('Thank you. Goodbye.').end('answered') : say(question).listen({ digits: 1 }));
}
