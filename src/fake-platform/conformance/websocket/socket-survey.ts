// The calls that many checks look at, placed once per run: one of each kind of input, and one for each misdeed. Records and
// judges nothing.
import { waitAtMost } from '../../../base/abort.ts';
import type { Proof } from '../base-lab.ts';
import { ExchangeLog } from '../exchange.ts';
import type { Slots } from '../slots.ts';
import { speakingMs, type Suspect } from '../suspect.ts';
import { MAX_AGENTS } from '../survey.ts';
import { askForAgents, agentsIn } from './list-question.ts';
import type { Message } from './message.ts';
import { MISDEED_MS, MISDEEDS, type Misdeed, type MisdeedName } from './misdeeds.ts';
import { ProbeSocket, type SocketOptions } from './probe-socket.ts';
import { SocketCall, type SocketTurn } from './socket-call.ts';

/** A call that was placed for several checks. */
export interface SocketRecord extends Proof {
  readonly agentId: string;
  readonly turns: readonly SocketTurn[];
  readonly socket: ProbeSocket;
  readonly ids: SocketCall['ids'];
}

/** A misdeed, and what the server did. */
export interface MisdeedRecord extends SocketRecord {
  readonly name: MisdeedName;
  /** What came behind it; undefined when it could not be done, because there was no welcome. */
  readonly after: readonly Message[] | undefined;
}

/** Reports of silence after which a bot that still asks again is left alone. */
const MAX_SILENCES = 4;
/** Longest time of one call beside what the caller says, ms. */
const MAX_CALL_MS = 300_000;
/** How long a server may take to close a socket whose caller has hung up, ms (W-28). */
export const HANG_UP_MS = 9000;

type Act = (call: SocketCall) => Promise<unknown>;

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

/** The calls of one run, placed when they are first asked for. */
export class SocketSurvey {
  readonly #suspect: Suspect;
  readonly #slots: Slots;
  readonly #open = new Set<ProbeSocket>();
  #isClosed = false;
  #calls: Promise<readonly SocketRecord[]> | undefined;
  #welcomes: Promise<readonly SocketRecord[]> | undefined;
  #misdeeds: Promise<readonly MisdeedRecord[]> | undefined;

  /** @param slots - of which each call takes one. Whoever waits for a call must not hold the last. */
  constructor(suspect: Suspect, slots: Slots) {
    this.#suspect = suspect;
    this.#slots = slots;
  }

  /** Gives up the calls that are still running, and places no more. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#open) socket.drop();
  }

  /** One call of each kind of input, with all their turns. */
  calls(): Promise<readonly SocketRecord[]> {
    this.#calls ??= this.#placeAll();
    return this.#calls;
  }

  /** A call to each agent on the list, up to its welcome. */
  welcomes(): Promise<readonly SocketRecord[]> {
    this.#welcomes ??= this.#listen();
    return this.#welcomes;
  }

  /** A call with each misdeed. */
  misdeeds(): Promise<readonly MisdeedRecord[]> {
    this.#misdeeds ??= Promise.all(MISDEEDS.map((misdeed) => this.#misbehave(misdeed)));
    return this.#misdeeds;
  }

  #placeAll(): Promise<readonly SocketRecord[]> {
    const { speech, press, endPress, transferPress, agentId } = this.#suspect;
    const acts: [string, Act][] = [
      ['silence', keepSilent],
      [
        'keys',
        (call) =>
          goOn(
            call,
            'keys',
            () => call.firstKey(),
            () => call.press(press),
            () => call.press(press),
          ),
      ],
      ['flow', (call) => goOn(call, undefined, () => call.flow())],
      ['hang-up', hangUpAndWait],
    ];
    if (speech !== undefined)
      acts.push([
        'speech',
        (call) =>
          goOn(
            call,
            'speech',
            () => call.speak(speech),
            () => call.speak(speech),
          ),
      ]);
    if (endPress.length > 0) acts.push(['end', (call) => pressUntilOver(call, () => call.press(endPress))]);
    if (transferPress.length > 0) acts.push(['transfer', (call) => pressUntilOver(call, () => call.press(transferPress))]);
    return Promise.all(acts.map(([name, act]) => this.#place(name, agentId, act)));
  }

  async #listen(): Promise<readonly SocketRecord[]> {
    const socket = this.#connect('WS1', 'list', new ExchangeLog(this.#suspect.clock));
    const { organizationId, timing } = this.#suspect;
    const list = await this.#slots.with(() => askForAgents(socket, organizationId, timing.answerMs));
    this.#open.delete(socket);
    const agents = agentsIn(list).slice(0, MAX_AGENTS);
    return Promise.all(agents.map(({ id }) => this.#place('welcome', id, (call) => goOn(call, undefined))));
  }

  async #misbehave(misdeed: Misdeed): Promise<MisdeedRecord> {
    let before: number | undefined;
    const record = await this.#place(misdeed.name, this.#suspect.agentId, async (call) => {
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

  #place(name: string, agentId: string, act: Act): Promise<SocketRecord> {
    const { clock, organizationId } = this.#suspect;
    return this.#slots.with(async () => {
      const limitMs = MAX_CALL_MS + 2 * speakingMs(this.#suspect);
      const log = new ExchangeLog(clock);
      const socket = this.#connect('WS1', 'voice', log);
      const call = new SocketCall(socket, this.#suspect, { organizationId, agentId });
      try {
        const { kind } = await waitAtMost(act(call), limitMs, clock);
        if (kind === 'timeout') log.add('suite', '', `this call was given up after ${String(Math.round(limitMs / 1000))} s`);
        return { name, agentId, log, socket, turns: [...call.turns], ids: call.ids, isOverloaded: socket.isOverloaded };
      } finally {
        socket.drop();
        this.#open.delete(socket);
      }
    });
  }

  #connect(name: string, channel: 'voice' | 'list', log: ExchangeLog): ProbeSocket {
    const socket = new ProbeSocket(name, socketOptionsOf(this.#suspect, channel), log);
    this.#open.add(socket);
    if (this.#isClosed) socket.drop();
    return socket;
  }
}

/**
 * A whole call: its welcome, these turns one after the other, and its end. Stops where the server ends it, gives no welcome or
 * asks for no input of this kind.
 */
async function goOn(
  call: SocketCall,
  kind: 'speech' | 'keys' | undefined,
  ...turns: readonly (() => Promise<SocketTurn>)[]
): Promise<void> {
  let last = await call.begin();
  if (last.final === undefined) return;
  for (const turn of turns) {
    await call.heardOut(last);
    if (last.terminal !== undefined || call.socket.isOver || (kind !== undefined && !call.isAskedFor(kind))) break;
    last = await turn();
  }
  if (last.terminal === undefined) await call.hangUp();
  else await call.socket.close();
}

/** Says nothing until the bot gives up, and then says nothing once more. */
async function keepSilent(call: SocketCall): Promise<void> {
  let last = await call.begin();
  if (last.final === undefined) return;
  for (let round = 0; round < MAX_SILENCES && last.terminal === undefined && !call.socket.isOver; round += 1) {
    await call.heardOut(last);
    if (!call.isAskedFor('silence')) break;
    last = await call.silence();
  }
  if (last.terminal === undefined) {
    await call.hangUp();
    return;
  }
  const late = call.open('no_input');
  call.send({ event_input: { event_type: 'NO_INPUT' } });
  await call.answered(late, MISDEED_MS / 2);
  await call.socket.close();
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

/** Presses the keys that end the call, hears the last words out, and closes as the platform does (W-29). */
async function pressUntilOver(call: SocketCall, press: () => Promise<SocketTurn>): Promise<void> {
  const welcome = await call.begin();
  if (welcome.final === undefined) return;
  await call.heardOut(welcome);
  if (!call.isAskedFor('keys')) {
    await call.hangUp();
    return;
  }
  const ending = await press();
  if (ending.terminal === undefined) await call.hangUp();
  await call.heardOut(ending);
  await call.socket.close();
}
