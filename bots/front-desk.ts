// A menu by key or, where a recognizer is configured, by voice: opening hours, the address, or a person who gets a
// summary of the call.
import { bot, go, play, say, type Saying } from 'parley-voice';

type Topic = 'hours' | 'address';

interface State {
  readonly asked: readonly Topic[];
  readonly misses: number;
}

const MENU = 'Press 1 for opening hours, 2 for the address, 9 to finish, or 0 for a person.';
const WELCOME = `Welcome to the front desk. ${MENU}`;
const ANSWERS: Readonly<Record<Topic, string>> = {
  hours: 'We are open from nine to five, Monday to Friday.',
  address: 'You find us at twelve Harbour Street.',
};
const SORRY = `Sorry, I did not get that. ${MENU}`;
const PERSON = 'One moment, I will connect you.';
const GOODBYE = 'Thank you for calling. Goodbye.';

const offer = (saying: Saying) => saying.listen({ digits: 1 });

export default bot<State>({
  id: 'front-desk',
  name: 'Front desk',
  version: 1,
  prompts: [WELCOME, MENU, ...Object.values(ANSWERS), SORRY, PERSON, GOODBYE],

  session_start: () => go({ asked: [], misses: 0 }, offer(play('chime.wav').say(WELCOME))),
  dtmf_input: (state, { digits }) => choose(state, digits),
  speech_input: (state, { text }) => choose(state, keyOf(text ?? '')),
  otherwise: misunderstood,
});

function choose(state: State, key: string) {
  switch (key) {
    case '1':
      return answer(state, 'hours');
    case '2':
      return answer(state, 'address');
    case '9':
      return go(state, say(GOODBYE).end('served'));
    case '0':
      return go(state, person(state, 'asked'));
    default:
      return misunderstood(state);
  }
}

function answer(state: State, topic: Topic) {
  return go({ asked: [...state.asked, topic], misses: 0 }, offer(say(ANSWERS[topic]).say(MENU)));
}

function misunderstood(state: State) {
  if (state.misses === 2) return go(state, person(state, 'not understood'));
  return go({ ...state, misses: state.misses + 1 }, offer(say(SORRY)));
}

function person({ asked }: State, reason: string) {
  const summary = asked.length === 0 ? 'The caller asked for a person at once.' : `The caller has heard: ${asked.join(', ')}.`;
  return say(PERSON).transfer({ reason, summary, routingHint: 'front_desk' });
}

/** The key that means the same as what was said; empty when nothing fits. */
function keyOf(text: string): string {
  if (/\b(hours?|open|opening|close|closing)\b/i.test(text)) return '1';
  if (/\b(address|where|street|find)\b/i.test(text)) return '2';
  if (/\b(person|human|agent|someone|operator)\b/i.test(text)) return '0';
  if (/\b(bye|goodbye|finish|nothing|thanks?)\b/i.test(text)) return '9';
  return '';
}
