// A bot whose model listens itself: with `endpointing: 'bot'`, `audio_input` gets every frame, and the bot says when the caller is done.
import { bot, go, say } from 'parley-voice';
import { SpeechModel } from './lib/speech-model.ts';

export default bot<null, SpeechModel>({
  id: 'speech-to-speech',
  name: 'Speech to speech',
  version: 1,
  endpointing: 'bot',

  live: {
    open: ({ ear }) =>
      new SpeechModel({
        onSpeech: () => {
          ear.speechStarted();
        },
        onSilence: () => {
          ear.speechEnded();
        },
      }),
    close: (model) => {
      model.close();
    },
  },

  session_start: () => go(null, say('Talk to me.').listen({ accept: 'speech' })),

  // Fifty times a second and synchronous: nothing is awaited here.
  audio_input: (pcm, _call, _ear, model) => {
    model.push(pcm);
  },

  // Comes after `speechEnded`, with everything from `speechStarted` on; a model would have its answer in audio by now.
  speech_input: (state, { utterance }) => go(state, say('You said:').play(utterance).listen({ accept: 'speech' })),

  otherwise: (state) => go(state, say('I am listening.').listen({ accept: 'speech' })),
});
