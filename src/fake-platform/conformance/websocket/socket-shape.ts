// Makes checks that only look at sockets which were used for all of them. Knows no rule.
import type { Check } from '../check.ts';
import { judge, NOTHING, type Look, type ShapeOptions } from '../shape-check.ts';
import type { Message } from './message.ts';
import type { MisdeedName } from './misdeeds.ts';
import type { SocketTurn } from './socket-call.ts';
import type { SocketLab } from './socket-lab.ts';
import type { MisdeedRecord, SocketRecord } from './socket-survey.ts';

/** A check that looks at recorded calls. */
export function socketShape(options: ShapeOptions<SocketRecord>): Check<SocketLab> {
  const { look, otherwise, needs = [], ...named } = options;
  return {
    ...named,
    needs: ['call', ...needs],
    run: async (lab) => {
      judge(lab, await lab.calls(), look, otherwise);
    },
  };
}

/** Looks at every turn: a turn of which `look` says so does not count, and the first breach is told with its kind. */
export function eachTurn(look: (turn: SocketTurn, call: SocketRecord) => string | typeof NOTHING | undefined): Look<SocketRecord> {
  return (call) => first(call.turns.map((turn) => [turn.kind, look(turn, call)]));
}

/** Looks at every message of every call. */
export function eachMessage(look: (message: Message, call: SocketRecord) => string | typeof NOTHING | undefined): Look<SocketRecord> {
  return (call) => first(call.socket.received.map((message, index) => [`message ${String(index + 1)}`, look(message, call)]));
}

/** The first breach of several looks, {@link NOTHING} where none had anything to look at. */
function first(looks: readonly (readonly [string, string | typeof NOTHING | undefined])[]): string | typeof NOTHING | undefined {
  const found = looks.filter(([, said]) => said !== NOTHING);
  const broken = found.find(([, said]) => typeof said === 'string');
  if (broken !== undefined) return `${broken[0]}: ${String(broken[1])}`;
  return found.length === 0 ? NOTHING : undefined;
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
export function misdeedCheck({ of, look, needs = [], ...named }: MisdeedOptions): Check<SocketLab> {
  return {
    ...named,
    needs: ['call', ...needs],
    run: async (lab) => {
      const misdeeds = (await lab.misdeeds()).filter(({ name }) => of.includes(name));
      judge(
        lab,
        misdeeds,
        (misdeed) => (misdeed.after === undefined ? NOTHING : look(misdeed, misdeed.after)),
        'nothing came of it that could be looked at',
      );
    },
  };
}
