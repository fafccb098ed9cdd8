// A menu by key: it counts the keys that the caller pressed, and 0 transfers the call to a person.
import { bot, go, say } from 'parley-voice';

/** What the bot remembers of a call. It must survive JSON, because it may travel to another machine. */
interface State {
  readonly presses: number;
}

export default bot<State>({
  // Stored in the platform's flows: it must never change.
  id: 'hello',
  name: 'Hello',
  // Raise it when states of running calls no longer fit.
  version: 1,

  session_start: () => go({ presses: 0 }, say('Hello. Press any key, or 0 for a person.').listen({ digits: 1 })),

  dtmf_input: ({ presses }, { digits }) =>
    digits === '0'
      ? go({ presses }, say('One moment.').transfer({ reason: 'asked', summary: `The caller pressed ${String(presses)} keys.` }))
      : go({ presses: presses + 1 }, say(`You pressed ${digits}. Press another key, or 0 for a person.`).listen({ digits: 1 })),

  // Silence, speech, and events of the flow: whatever has no handler of its own.
  otherwise: (state) => go(state, say('Press a key, please.').listen({ digits: 1 })),
});
