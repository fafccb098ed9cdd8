// Answers whatever the caller says with one sentence: the shortest way of a spoken turn.
import { bot, go, say } from 'parley-voice';

const WELCOME = 'Hello.';
const ANSWER = 'I have heard you.';

export default bot<Readonly<Record<string, never>>>({
  id: 'answer',
  name: 'Answer',
  version: 1,
  prompts: [WELCOME, ANSWER],
  recognition: 'none',
  session_start: () => go({}, say(WELCOME).listen()),
  speech_input: (state) => go(state, say(ANSWER).listen()),
  otherwise: (state) => go(state, say(ANSWER).end('silence')),
});
