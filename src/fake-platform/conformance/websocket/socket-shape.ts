// Makes checks that only examine sockets which several checks share, and requires that a call continues. Knows no rule.
import type { Check } from '../check.ts';
import { firstBreach, NOTHING, shapeCheck, shapeOf, type Found, type Inspection } from '../shape-check.ts';
import type { Message } from './message.ts';
import { afterMisdeed, MISDEED_ACTS, type MisdeedName } from './misdeeds.ts';
import type { SocketCall, SocketTurn } from './socket-call.ts';
import type { SocketLab, SocketProbe, SocketRecord } from './socket-probe.ts';

/** A check that examines recorded calls. */
export const socketShape = shapeCheck<SocketTurn, SocketCall, SocketProbe>;

/** Inspects every message of every call. */
export function eachMessage(inspect: (message: Message, call: SocketRecord) => Found): Inspection<SocketRecord> {
  return (record) =>
    firstBreach(record.call.socket.received.map((message, index) => [`message ${String(index + 1)}`, inspect(message, record)]));
}

/** A check that examines misdeeds; those that could not be done do not count. */
export interface MisdeedOptions extends Pick<Check, 'id' | 'rules' | 'title' | 'level' | 'needs'> {
  readonly of: readonly MisdeedName[];
  /** @param after - what came after the misdeed. */
  readonly inspect: (misdeed: SocketRecord, after: readonly Message[]) => Found;
}

/** Makes the check. */
export function misdeedCheck({ of, inspect, ...named }: Omit<MisdeedOptions, 'needs'> & Partial<MisdeedOptions>): Check<SocketLab> {
  return shapeOf<SocketLab, SocketRecord>(
    {
      ...named,
      inspect: (misdeed) => {
        const after = afterMisdeed(misdeed);
        return after === undefined ? NOTHING : inspect(misdeed, after);
      },
      otherwise: 'the server did nothing that a check could examine',
    },
    async (lab) => (await lab.placed(MISDEED_ACTS)).filter(({ name }) => of.some((each) => each === name)),
  );
}

/** Requires that a call still answers. @param likewise - what else was done to it, for the call that it is compared with. */
export async function demandAlive(
  lab: SocketLab,
  call: SocketCall,
  after: string,
  likewise: (control: SocketCall) => void = () => undefined,
): Promise<SocketTurn> {
  const turn = await call.goOn(lab.suspect.press);
  if (turn.isAnswered) return turn;
  lab.note(`the same turn without ${after}`);
  const control = await lab.ready();
  likewise(control);
  if (!(await control.goOn(lab.suspect.press)).isAnswered) lab.skip(`the same turn is not answered without ${after} either`);
  await control.hangUp();
  return lab.fail(`after ${after} the next turn ${call.socket.stateText}, and without it the same turn was answered`);
}
