// Waits with the caller: `wakeMs` says something into the silence now and then, and `wake` what has come in meanwhile.
import { bot, go, listen, say } from 'parley-voice';

/** Ten seconds of silence wake the bot; the platform reports no input after a minute. */
const waiting = { wakeMs: 10_000, noInputMs: 60_000 };

export default bot<{ readonly place: number }>({
  id: 'waiting-room',
  name: 'Waiting room',
  version: 1,
  live: {
    open({ clock, wake }) {
      // A real one listens to the queue of its people here, and stops with `signal`.
      clock.after(25_000, () => {
        wake('free', { name: 'Maria' });
      });
      return undefined;
    },
  },
  session_start: () => go({ place: 3 }, say('You are third in the queue.').listen(waiting)),
  woken: ({ place }, { name }) => {
    if (name === 'free') return go({ place }, say('Thank you for waiting.').transfer({ reason: 'a person is free' }));
    const next = { place: place - 1 };
    // A silent reply: the time until no input goes on.
    return place > 2 ? go(next, say(`You are number ${String(next.place)} now.`).listen(waiting)) : go(next, listen(waiting));
  },
  no_input: (state) => go(state, say('Are you still there?').listen(waiting)),
  otherwise: (state) => go(state, say('Please hold the line.').listen(waiting)),
});
