// Says back what the caller says, in the caller's own voice: proof that audio travels in both directions.
import { bot, go, play, say } from 'parley-voice';

interface State {
  readonly silences: number;
}

const WELCOME = 'Say something, and I will say it back.';
const STILL_THERE = 'I did not hear you. Say something, please.';
const GOODBYE = 'Goodbye.';

export default bot<State>({
  id: 'echo',
  name: 'Echo',
  version: 1,
  prompts: [WELCOME, STILL_THERE, GOODBYE],
  // It needs the sound and not the words.
  recognition: 'none',

  session_start: () => go({ silences: 0 }, say(WELCOME).listen()),

  speech_input: (_state, { utterance }) => go({ silences: 0 }, play(utterance).listen()),

  // Any key ends the call.
  dtmf_input: (state) => go(state, say(GOODBYE).end('key')),

  otherwise: ({ silences }) =>
    silences === 2 ? go({ silences }, say(GOODBYE).end('silence')) : go({ silences: silences + 1 }, say(STILL_THERE).listen()),
});
