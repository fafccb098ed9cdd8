// The bot that `npm run bench -- engine` calls: recorded prompts of 16 KiB each, four as an answer to whatever is said, so that
// nothing is synthesized while the server is measured.
import { bot, go, play } from 'parley-voice';

const ANSWER = play('ready-made-1.wav').play('ready-made-2.wav').play('ready-made-3.wav').play('ready-made-4.wav');

/** @type {import('parley-voice').BotDefinition<{ turns: number }>} */
const definition = {
  id: 'ready-made',
  name: 'Ready made',
  version: 1,
  session_start: () => go({ turns: 0 }, play('ready-made-1.wav').listen()),
  otherwise: ({ turns }) => go({ turns: turns + 1 }, ANSWER.listen()),
};

export default bot(definition);
