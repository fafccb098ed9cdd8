// Checks of what is not to be taken for the caller's voice (contract, sections 2.4 and 3.5).
import type { Check } from '../../check.ts';
import { QUIET_LINES } from '../../quiet-line.ts';
import type { SocketLab } from '../socket-lab.ts';

/** How long the answer to what is no speech would be on its way, ms. */
const LATE_ANSWER_MS = 500;

export const SPEECH_CHECKS: readonly Check<SocketLab>[] = [
  {
    id: 'only-speech-reported',
    rules: ['G-36', 'W-23'],
    title: 'Silence and line noise are not reported as START_OF_INPUT.',
    needs: ['call'],
    run: async (lab) => {
      for (const { what, mulaw } of QUIET_LINES) {
        const call = await lab.ready();
        if (!call.isAskedFor('speech')) lab.skip('the bot asks for keys only');
        lab.note(`nobody speaks: ${what}`);
        const turn = call.open('speech');
        const isReported = (): boolean => turn.answers.some(({ answer }) => answer.event?.kind === 'start_of_input');
        await call.stream(mulaw, isReported);
        await call.socket.until(() => call.socket.isOver || isReported(), LATE_ANSWER_MS);
        if (isReported()) lab.fail(`START_OF_INPUT came where nothing but ${what} was sent`);
        await call.hangUp();
      }
    },
  },
];
