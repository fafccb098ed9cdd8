// Each handler returns the next state and one reply; `otherwise` answers every event that has no handler.
import { bot, go, say } from 'parley-voice';

interface State {
  readonly misses: number;
}

const MENU = 'Press 1 for opening hours, or 0 for a person.';
const HOURS = 'We are open from nine to five.';

const menu = (text: string) => say(text).listen({ digits: 1 });
const person = (reason: string) => say('One moment, please.').transfer({ reason });

export default bot<State>({
  id: 'menu',
  name: 'Menu',
  version: 1,
  prompts: [MENU, HOURS],

  session_start: () => go({ misses: 0 }, menu(`Welcome. ${MENU}`)),

  dtmf_input: (state, { digits }) => {
    if (digits === '1') return go({ misses: 0 }, menu(`${HOURS} ${MENU}`));
    if (digits === '0') return go(state, person('asked'));
    return again(state);
  },

  otherwise: again,
});

function again({ misses }: State) {
  return misses === 2 ? go({ misses }, person('not understood')) : go({ misses: misses + 1 }, menu(`Sorry. ${MENU}`));
}
