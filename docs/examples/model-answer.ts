// Speaks what a language model writes, sentence by sentence while it writes. The history holds what the caller has heard, to the word.
import { bot, go, listen, say, speak } from 'parley-voice';
import { written } from './lib/language-model.ts';

interface State {
  readonly history: readonly string[];
}

export default bot<State>({
  id: 'model-answer',
  name: 'Model answer',
  version: 1,

  session_start: () => go({ history: [] }, say('What would you like to know?').listen()),

  async *speech_input({ history }, { text = '', heard }, { signal }) {
    const known = [...history, `bot: ${heard.text}`, `caller: ${text}`];
    yield* speak(written(text, signal), { leastChars: 20 });
    return go({ history: known.slice(-20) }, listen());
  },

  otherwise: (state) => go(state, say('Please just ask.').listen()),
});
