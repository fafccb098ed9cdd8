// Makes checks that only look at sockets which were used for all of them. Knows no rule.
import type { Check } from '../check.ts';
import { firstBreach, NOTHING, shapeOf, type Look, type ShapeOptions } from '../shape-check.ts';
import type { Message } from './message.ts';
import type { MisdeedName } from './misdeeds.ts';
import type { SocketTurn } from './socket-call.ts';
import type { SocketLab } from './socket-lab.ts';
import type { MisdeedRecord, SocketRecord } from './socket-survey.ts';

/** A check that looks at recorded calls. */
export function socketShape(options: ShapeOptions<SocketRecord>): Check<SocketLab> {
  return shapeOf<SocketLab, SocketRecord>(options, (lab) => lab.calls());
}

/** Looks at every turn: a turn of which `look` says so does not count, and the first breach is told with its kind. */
export function eachTurn(look: (turn: SocketTurn, call: SocketRecord) => string | typeof NOTHING | undefined): Look<SocketRecord> {
  return (call) => firstBreach(call.turns.map((turn) => [turn.kind, look(turn, call)]));
}

/** Looks at every message of every call. */
export function eachMessage(look: (message: Message, call: SocketRecord) => string | typeof NOTHING | undefined): Look<SocketRecord> {
  return (call) => firstBreach(call.socket.received.map((message, index) => [`message ${String(index + 1)}`, look(message, call)]));
}

/** What a look at one misdeed that was done found. */
export type MisdeedLook = (misdeed: MisdeedRecord, after: readonly Message[]) => string | typeof NOTHING | undefined;

/** A check that looks at misdeeds; those that could not be done do not count. */
export interface MisdeedOptions extends Pick<Check<SocketLab>, 'id' | 'rules' | 'title' | 'level'> {
  readonly of: readonly MisdeedName[];
  readonly needs?: Check<SocketLab>['needs'];
  readonly look: MisdeedLook;
}

/** Makes the check. */
export function misdeedCheck({ of, look, ...named }: MisdeedOptions): Check<SocketLab> {
  return shapeOf<SocketLab, MisdeedRecord>(
    {
      ...named,
      look: (misdeed) => (misdeed.after === undefined ? NOTHING : look(misdeed, misdeed.after)),
      otherwise: 'nothing came of it that could be looked at',
    },
    async (lab) => (await lab.misdeeds()).filter(({ name }) => of.includes(name)),
  );
}
