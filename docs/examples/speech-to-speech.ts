// A bot whose model listens itself: with `endpointing: 'bot'` the engine hands every frame to `audio_input` and believes the
// bot about when the caller speaks and is done. Connections cannot be part of the state; they are kept beside it, by call.
import { bot, go, say, type CallFacts } from 'parley-voice';
import { SpeechModel } from './lib/speech-model.ts';

const connections = new Map<string, SpeechModel>();
const keyOf = ({ organizationId, conversationId }: CallFacts) => `${organizationId} ${conversationId}`;

export default bot<null>({
  id: 'speech-to-speech',
  name: 'Speech to speech',
  version: 1,
  endpointing: 'bot',

  session_start: () => go(null, say('Talk to me.').listen({ accept: 'speech' })),

  // Fifty times a second and synchronous: nothing is awaited here.
  audio_input: (pcm, call, ear) => {
    const key = keyOf(call);
    let model = connections.get(key);
    if (model === undefined) {
      model = new SpeechModel({
        onSpeech: () => {
          ear.speechStarted();
        },
        onSilence: () => {
          ear.speechEnded();
        },
      });
      connections.set(key, model);
    }
    model.push(pcm);
  },

  // Comes after `speechEnded`, with everything from `speechStarted` on; a model would have its answer in audio by now.
  speech_input: (state, { utterance }) => go(state, say('You said:').play(utterance).listen({ accept: 'speech' })),

  otherwise: (state) => go(state, say('I am listening.').listen({ accept: 'speech' })),

  session_end: (_state, _event, { call }) => {
    connections.delete(keyOf(call));
    return undefined;
  },
});
