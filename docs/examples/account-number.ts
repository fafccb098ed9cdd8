// Takes an account number by key or by voice, and then a PIN: `sensitive` keeps the next input out of logs, recordings and open stores.
import { bot, go, say } from 'parley-voice';

type State =
  | { readonly step: 'account' }
  | { readonly step: 'confirm'; readonly account: string }
  | { readonly step: 'pin'; readonly account: string };

const spaced = (digits: string) => Array.from(digits).join(' ');
const askAccount = say('Please say or enter your six digit account number.').listen({ digits: 6, noInputMs: 8000 });
const askPin = say('And your PIN, please. Use the keys.').listen({ digits: 4, accept: 'keys', sensitive: true, interDigitMs: 5000 });
const person = (reason: string) => say('I will get someone.').transfer({ reason });

export default bot<State>({
  id: 'account-number',
  name: 'Account number',
  version: 1,

  session_start: () => go({ step: 'account' }, askAccount),

  // Spoken digits arrive here, too: `by` tells the difference.
  dtmf_input: (state, { digits, by }) => {
    switch (state.step) {
      case 'account':
        if (!/^\d{6}$/.test(digits)) return go(state, askAccount);
        // A recognizer may have misheard; keys are what was pressed.
        if (by === 'keys') return go({ step: 'pin', account: digits }, askPin);
        return go({ step: 'confirm', account: digits }, say(`I heard ${spaced(digits)}. Press 1 if that is right.`).listen({ digits: 1 }));
      case 'confirm':
        return digits === '1' ? go({ step: 'pin', account: state.account }, askPin) : go({ step: 'account' }, askAccount);
      case 'pin':
        return go(state, person('account and PIN entered'));
    }
  },

  otherwise: (state) => go(state, person('no digits')),
});
