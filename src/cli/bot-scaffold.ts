// The source of a new bot and of its test. Both are complete and the test passes, so that an author starts from something that works.

export interface Scaffold {
  readonly module: string;
  readonly test: string;
}

/** The files of a bot with this valid id. */
export function scaffoldOf(id: string): Scaffold {
  const words = id.replaceAll('-', ' ').trim();
  const name = words.charAt(0).toUpperCase() + words.slice(1);
  return { module: moduleText(id, name), test: testText(id, name) };
}

const moduleText = (
  id: string,
  name: string,
): string => `// ${name}: a menu by key. Say here what this bot is for; docs/bot-api.md says what else a bot can do.
import { bot, go, ladder, say } from 'parley-voice';

/** What the bot remembers of a call. It must survive JSON, because it may travel to another machine. */
interface State {
  /** Answers in a row that were no good. */
  readonly misses: number;
}

const WELCOME = 'Welcome. Press 1 for our opening hours, 9 to finish, or 0 for a person.';
const HOURS = 'We are open from nine to five. Press 1 to hear it again, 9 to finish, or 0 for a person.';
const SORRY = 'Sorry, I did not get that. Press 1 for our opening hours, 9 to finish, or 0 for a person.';
const PERSON = 'One moment, I will connect you.';
const GOODBYE = 'Thank you for calling. Goodbye.';

const menu = (text: string) => say(text).listen({ digits: 1 });
const person = (reason: string) => say(PERSON).transfer({ reason });

export default bot<State>({
  // Stored in the platform's flows: it must never change.
  id: '${id}',
  name: '${name}',
  // Raise it when states of running calls no longer fit.
  version: 1,
  // Spoken and stored before the first call. Never anything that a caller said or typed.
  prompts: [WELCOME, HOURS, SORRY, PERSON, GOODBYE],

  session_start: () => go({ misses: 0 }, menu(WELCOME)),

  dtmf_input: (state, { digits }) => {
    switch (digits) {
      case '1':
        return go({ misses: 0 }, menu(HOURS));
      case '9':
        return go(state, say(GOODBYE).end('served'));
      case '0':
        return go(state, person('asked'));
      default:
        return again(state);
    }
  },

  // Silence, speech, and events of the flow: whatever has no handler of its own.
  otherwise: again,
});

/** Asks twice more, then gets a person. */
function again(state: State) {
  const misses = state.misses + 1;
  return go({ misses }, ladder(misses, menu(SORRY), menu(SORRY), person('not understood')));
}
`;

const testText = (id: string, name: string): string => `import { describe, it } from 'vitest';
import { TestCall } from 'parley-voice/testing';
import theBot from './${id}.ts';

const started = () => new TestCall(theBot).start();

describe('${name}', () => {
  it('answers and says goodbye', async () => {
    const call = (await started()).hears('Welcome');
    (await call.press('1')).hears(/nine to five/);
    (await call.press('9')).hears('Goodbye').ended('served');
  });

  it('gets a person for 0', async () => {
    (await (await started()).press('0')).transferred({ reason: 'asked' });
  });

  it('asks twice more before it gets a person', async () => {
    const call = await started();
    (await call.silence()).hears('Sorry');
    (await call.speak('what?')).hears('Sorry');
    (await call.press('7')).transferred({ reason: 'not understood' });
  });
});
`;
