// The calls that many checks look at, placed once per run: one of each kind of input, and one for each misdeed. Records and
// judges nothing.
import { ExchangeLog } from '../exchange.ts';
import type { Slots } from '../slots.ts';
import { Survey, type RecordedCall, type SurveyLine } from '../survey.ts';
import type { Suspect } from '../suspect.ts';
import { askForAgents, agentsIn } from './list-question.ts';
import type { Message } from './message.ts';
import { MISDEED_MS, MISDEEDS, type Misdeed, type MisdeedName } from './misdeeds.ts';
import { ProbeSocket, type SocketOptions } from './probe-socket.ts';
import { SocketCall, type SocketTurn } from './socket-call.ts';

/** A call that was placed for several checks. */
export interface SocketRecord extends RecordedCall<SocketTurn> {
  readonly socket: ProbeSocket;
}

/** A misdeed, and what the server did. */
export interface MisdeedRecord extends SocketRecord {
  readonly name: MisdeedName;
  /** What came behind it; undefined when it could not be done, because there was no welcome. */
  readonly after: readonly Message[] | undefined;
}

/** How long a server may take to close a socket whose caller has hung up, ms (W-28). */
export const HANG_UP_MS = 9000;

/** The good token as a header (W-05); undefined without one. */
export function bearer(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** What a socket of a run is opened with. */
export function socketOptionsOf(
  suspect: Pick<SocketOptions, 'target' | 'certificateAuthority' | 'serverName' | 'profile' | 'clock' | 'token'> & {
    readonly timing: Suspect['timing'];
  },
  channel: SocketOptions['channel'],
  authorization = bearer(suspect.token),
): SocketOptions {
  return { ...suspect, channel, authorization, handshakeMs: suspect.timing.answerMs };
}

const SOCKET_LINE: SurveyLine<SocketTurn, SocketCall, SocketRecord> = {
  open: (suspect, agentId, log) =>
    new SocketCall(connect(suspect, 'voice', log), suspect, { organizationId: suspect.organizationId, agentId }),
  agentIds: async (suspect, opened) => {
    const socket = connect(suspect, 'list', new ExchangeLog(suspect.clock));
    opened(socket);
    return agentsIn(await askForAgents(socket, suspect.organizationId, suspect.timing.answerMs)).map(({ id }) => id);
  },
  recorded: ({ socket }, record) => ({ ...record, socket }),
  acts: { 'hang-up': hangUpAndWait },
};

/** The calls of one run, on sockets, and one for each misdeed. */
export class SocketSurvey extends Survey<SocketTurn, SocketCall, SocketRecord> {
  readonly #suspect: Suspect;
  #misdeeds: Promise<readonly MisdeedRecord[]> | undefined;

  constructor(suspect: Suspect, slots: Slots) {
    super(suspect, slots, SOCKET_LINE);
    this.#suspect = suspect;
  }

  /** A call with each misdeed. */
  misdeeds(): Promise<readonly MisdeedRecord[]> {
    this.#misdeeds ??= Promise.all(MISDEEDS.map((misdeed) => this.#misbehave(misdeed)));
    return this.#misdeeds;
  }

  async #misbehave(misdeed: Misdeed): Promise<MisdeedRecord> {
    let before: number | undefined;
    const record = await this.place(misdeed.name, this.#suspect.agentId, async (call) => {
      const { act, isFirst, waitMs = MISDEED_MS } = misdeed;
      if (isFirst === true) await call.socket.upgraded();
      else if ((await call.begin()).final === undefined) return;
      if (!call.socket.isOpen) return;
      before = call.socket.received.length;
      const turn = call.open('custom_event');
      act?.(call, this.#suspect.press);
      // An answer that nobody owes shows itself, too.
      await call.socket.until(() => call.socket.isOver || turn.final !== undefined, waitMs);
      await call.socket.close();
    });
    return { ...record, name: misdeed.name, after: before === undefined ? undefined : record.socket.received.slice(before) };
  }
}

function connect(suspect: Suspect, channel: 'voice' | 'list', log: ExchangeLog): ProbeSocket {
  return new ProbeSocket('WS1', socketOptionsOf(suspect, channel), log);
}

/** Hangs up behind the welcome, and lets the server close. */
async function hangUpAndWait(call: SocketCall): Promise<void> {
  const welcome = await call.begin();
  if (welcome.final === undefined) return;
  await call.heardOut(welcome);
  call.open('session_end', { event_input: { event_type: 'SESSION_END' } });
  await call.socket.until(() => call.socket.isOver, HANG_UP_MS);
  await call.socket.close();
}
