// Plays a recording of the prompts folder, and the caller's own words. The caller cannot cut a prompt with `bargeIn: false`.
import { bot, go, play, say } from 'parley-voice';

export default bot<null>({
  id: 'recordings',
  name: 'Recordings',
  version: 1,

  session_start: () =>
    go(
      null,
      play('chime.wav', { bargeIn: false })
        .say('This call may be recorded.', { bargeIn: false })
        .say('Please say something after this.')
        .listen({ accept: 'speech' }),
    ),

  speech_input: (state, { utterance }) => go(state, say('You said:').play(utterance).listen({ accept: 'speech' })),

  otherwise: (state) => go(state, say('Goodbye.').end()),
});
