// Asks for a four-digit code, reads it back and has it confirmed. Shows state with two shapes and a sensitive input.
import { bot, go, say } from 'parley-voice';

type State =
  | { readonly step: 'ask'; readonly misses: number }
  | { readonly step: 'confirm'; readonly misses: number; readonly code: string };

const WELCOME = 'Welcome. Enter your four digit code.';
const AGAIN = 'Sorry, four digits please.';
const HELP = 'I will get someone.';
const THANKS = 'Thank you, goodbye.';

const ask = (text: string) => say(text).listen({ digits: 4, sensitive: true });
const confirm = (code: string) =>
  say(`You entered ${Array.from(code).join(' ')}. Press 1 if right, 2 to try again.`).listen({ digits: 1, sensitive: true });
const help = (reason: string) => say(HELP).transfer({ reason });

export default bot<State>({
  id: 'code-line',
  name: 'Code line',
  version: 1,
  prompts: [WELCOME, AGAIN, HELP, THANKS],

  session_start: () => go({ step: 'ask', misses: 0 }, ask(WELCOME)),

  dtmf_input: (state, { digits }) => {
    if (digits === '0') return go(state, help('asked'));
    if (state.step === 'ask' && /^\d{4}$/.test(digits)) return go({ step: 'confirm', misses: 0, code: digits }, confirm(digits));
    if (state.step === 'confirm' && digits === '1') return go(state, say(THANKS).end('confirmed'));
    if (state.step === 'confirm' && digits === '2') return go({ step: 'ask', misses: 0 }, ask(WELCOME));
    return again(state);
  },

  otherwise: again,
});

function again(state: State) {
  if (state.misses === 2) return go(state, help('no input'));
  const next = { ...state, misses: state.misses + 1 };
  return go(next, next.step === 'ask' ? ask(AGAIN) : confirm(next.code));
}
