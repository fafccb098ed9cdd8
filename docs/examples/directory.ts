// Asks for a name by voice. When nothing was understood, `text` is undefined; the engine counts silences, and `ladder` picks the re-prompt.
import { bot, go, ladder, say } from 'parley-voice';

const EXTENSIONS: Readonly<Record<string, string>> = { miller: 'sales', jones: 'service' };

const ask = (text: string) => say(text).listen({ accept: 'speech', noInputMs: 5000 });
const bye = say('I will get someone.').transfer({ reason: 'no name' });

export default bot<null>({
  id: 'directory',
  name: 'Directory',
  version: 1,

  session_start: () => go(null, ask('Whom would you like to talk to?')),

  speech_input: (state, { text }) => {
    const name = Object.keys(EXTENSIONS).find((known) => text?.toLowerCase().includes(known));
    const extension = name === undefined ? undefined : EXTENSIONS[name];
    if (extension === undefined) return go(state, ask('Sorry, I did not get the name. Please say it again.'));
    return go(state, say('I am connecting you.').transfer({ reason: 'by name', routingHint: extension }));
  },

  no_input: (state, { count }) => go(state, ladder(count, ask('Are you still there?'), ask('Please say a name.'), bye)),
  otherwise: (state) => go(state, bye),
});
