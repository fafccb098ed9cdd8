// The calls of the demo: a call to each of four bundled bots, a call over WebSocket, and a call with a renewed token. Each call has
// expectations.
import { keysOf } from '../fake-platform/caller/key.ts';
import { parseExpectation, type Expectation } from '../fake-platform/caller/expectation.ts';
import type { Step } from '../fake-platform/caller/script.ts';

export interface DemoCall {
  /** The name of the call's recording. */
  readonly name: string;
  readonly agentId: string;
  readonly title: string;
  readonly script: readonly Step[];
  readonly expectations: readonly Expectation[];
}

/** Synthesizes a text of the caller: µ-law, 8 kHz. */
export type Speak = (text: string) => Promise<Uint8Array>;

export interface DemoCalls {
  readonly withFirstToken: readonly DemoCall[];
  readonly overWebSocket: DemoCall;
  /** Short, because the user has already waited for the token. */
  readonly withNextToken: DemoCall;
}

export async function demoCalls(speak: Speak): Promise<DemoCalls> {
  const sayAloud = async (label: string): Promise<Step> => ({ kind: 'say', label, words: label, mulaw: await speak(label) });
  const withFirstToken: readonly DemoCall[] = [
    {
      name: 'appointments',
      agentId: 'appointments',
      title: 'appointments  the caller talks with a language model, which looks for a time and books it',
      script: await Promise.all(['Do you have anything on Tuesday?', 'Nine is good.', 'No, thank you. Goodbye.'].map(sayAloud)),
      expectations: expecting('text:/nine and eleven/', 'text:/It is booked/', 'end', 'latency<5s'),
    },
    {
      name: 'front-desk',
      agentId: 'front-desk',
      title: 'front-desk  the caller interrupts the menu, asks for the opening hours, then for a person',
      script: [press('1', 2500), press('0', 1500)],
      expectations: expecting('text:/welcome to the front desk/i', 'text:/nine to five/', 'text:/connect you/', 'transfer', 'latency<1s'),
    },
    {
      name: 'echo',
      agentId: 'echo',
      title: 'echo        the caller says a sentence, hears it back, and ends with a key',
      script: [await sayAloud('Hello Parley, can you hear me?'), press('5')],
      expectations: expecting('text:/say something/i', 'text:/goodbye/i', 'end', 'latency<5s'),
    },
    {
      name: 'code-line',
      agentId: 'code-line',
      title: 'code-line   the caller enters a code, hears it back and confirms it',
      script: [press('4711'), press('1')],
      expectations: expecting('text:/four digit code/', 'text:/You entered 4 7 1 1/', 'text:/thank you/i', 'end', 'latency<5s'),
    },
  ];
  const overWebSocket: DemoCall = {
    name: 'front-desk-socket',
    agentId: 'front-desk',
    title: 'front-desk  the same bot over WebSocket: the caller interrupts the menu and asks for the opening hours, then for a person',
    script: [press('1', 2500), press('0', 1500)],
    expectations: expecting('text:/welcome to the front desk/i', 'text:/nine to five/', 'text:/connect you/', 'transfer', 'latency<1s'),
  };
  const withNextToken: DemoCall = {
    name: 'front-desk-again',
    agentId: 'front-desk',
    title: 'front-desk  the caller calls again, with the new token, and asks for a person at once',
    script: [press('0', 1000)],
    expectations: expecting('text:/welcome to the front desk/i', 'text:/connect you/', 'transfer', 'latency<1s'),
  };
  return { withFirstToken, overWebSocket, withNextToken };
}

function press(text: string, interruptMs?: number): Step {
  return { kind: 'press', keys: keysOf(text) ?? [], ...(interruptMs === undefined ? {} : { interruptMs }) };
}

function expecting(...written: readonly string[]): readonly Expectation[] {
  return written.map(parseExpectation);
}
