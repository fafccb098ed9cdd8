// The calls that many checks look at: one of each kind of input, placed once per run. Records and judges nothing.
import { randomUUID } from 'node:crypto';
import type { Proof } from './base-lab.ts';
import { ExchangeLog } from './exchange.ts';
import { FLOW_EVENT, ProbeCall, eventInput, isBroken, plainSpeech, terminalOf, type TurnRecord } from './probe-call.ts';
import { WireConnection } from './connection.ts';
import type { Slots } from './slots.ts';
import { authorizationOf, speakingMs, type Suspect } from './suspect.ts';
import { waitAtMost } from '../../base/abort.ts';

/** A call that was placed for several checks. */
export interface CallRecord extends Proof {
  readonly agentId: string;
  readonly turns: readonly TurnRecord[];
}

/** Reports of silence after which a bot that still asks again is left alone. */
const MAX_SILENCES = 4;
/** Agents whose welcome is listened to. */
export const MAX_AGENTS = 6;
/** Longest time of one call beside what the caller says, ms: a welcome, silence until the bot gives up, and every answer late. */
const MAX_CALL_MS = 300_000;

type Act = (call: ProbeCall) => Promise<unknown>;

/** The calls of one run, placed when they are first asked for. */
export class Survey {
  readonly #suspect: Suspect;
  readonly #slots: Slots;
  readonly #open = new Set<WireConnection>();
  #isClosed = false;
  #calls: Promise<readonly CallRecord[]> | undefined;
  #welcomes: Promise<readonly CallRecord[]> | undefined;

  /** @param slots - of which each call takes one. Whoever waits for a call must not hold the last. */
  constructor(suspect: Suspect, slots: Slots) {
    this.#suspect = suspect;
    this.#slots = slots;
  }

  /** Gives up the calls that are still running, and places no more. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.close();
  }

  /**
   * One call of each kind of input, with all their turns. Where no turn after a welcome was taken at all, they are left out:
   * that is one breach and not one of every rule (G-12).
   */
  calls(): Promise<readonly CallRecord[]> {
    this.#calls ??= this.#placeAll();
    return this.#calls;
  }

  /** A call to each agent on the list, up to its welcome. */
  welcomes(): Promise<readonly CallRecord[]> {
    this.#welcomes ??= this.#listen();
    return this.#welcomes;
  }

  async #placeAll(): Promise<readonly CallRecord[]> {
    const { speech, press, endPress, transferPress } = this.#suspect;
    const acts: [string, Act][] = [
      ['silence', keepSilent],
      [
        'keys',
        (call) =>
          goOn(
            call,
            'keys',
            () => call.turn('dtmf_start', eventInput('START_OF_DTMF')),
            () => call.press(press),
            () => call.press(press),
          ),
      ],
      ['flow', (call) => goOn(call, undefined, () => call.turn('custom_event', FLOW_EVENT))],
    ];
    if (speech !== undefined) {
      const speak = (call: ProbeCall) => (): Promise<TurnRecord> => call.speak(plainSpeech(speech));
      acts.push(['speech', (call) => goOn(call, 'speech', speak(call), speak(call))]);
    }
    if (endPress.length > 0) acts.push(['end', (call) => pressUntilOver(call, () => call.press(endPress))]);
    if (transferPress.length > 0) acts.push(['transfer', (call) => pressUntilOver(call, () => call.press(transferPress))]);
    const calls = await Promise.all(acts.map(([name, act]) => this.#place(name, this.#suspect.agentId, act)));
    return calls.flatMap(({ turns }) => turns.slice(1)).some(wasTaken)
      ? calls
      : calls.map((call) => ({ ...call, turns: call.turns.slice(0, 1) }));
  }

  async #listen(): Promise<readonly CallRecord[]> {
    const { organizationId, timing } = this.#suspect;
    const connection = this.#connect();
    try {
      const list = await this.#slots.with(() => connection.list(organizationId, timing.answerMs, new ExchangeLog(this.#suspect.clock)));
      const agents = 'code' in list ? [] : (list.virtual_agents ?? []).slice(0, MAX_AGENTS);
      return await Promise.all(
        agents.map(({ virtual_agent_id: agentId = '' }) => this.#place('welcome', agentId, (call) => goOn(call, undefined))),
      );
    } finally {
      this.#disconnect(connection);
    }
  }

  #place(name: string, agentId: string, act: Act): Promise<CallRecord> {
    const { clock, timing, organizationId } = this.#suspect;
    return this.#slots.with(async () => {
      const limitMs = MAX_CALL_MS + 2 * speakingMs(this.#suspect);
      const log = new ExchangeLog(clock);
      const connection = this.#connect();
      const call = new ProbeCall(connection, clock, log, timing, { conversationId: randomUUID(), organizationId, agentId });
      try {
        const { kind } = await waitAtMost(act(call), limitMs, clock);
        if (kind === 'timeout') log.add('suite', '', `this call was given up after ${String(Math.round(limitMs / 1000))} s`);
        return { name, agentId, turns: [...call.turns], log, isOverloaded: connection.isOverloaded };
      } finally {
        this.#disconnect(connection);
      }
    });
  }

  #connect(): WireConnection {
    const connection = new WireConnection({ ...this.#suspect, authorization: authorizationOf(this.#suspect) });
    this.#open.add(connection);
    if (this.#isClosed) connection.close();
    return connection;
  }

  #disconnect(connection: WireConnection): void {
    connection.close();
    this.#open.delete(connection);
  }
}

/** Whether the server knew the call of a turn. */
function wasTaken({ rpc }: TurnRecord): boolean {
  return !isBroken(rpc);
}

/**
 * A whole call: its welcome, these turns one after the other, and its end. Stops where the server ends it, gives no welcome or
 * asks for no input of this kind.
 */
async function goOn(
  call: ProbeCall,
  kind: 'speech' | 'keys' | undefined,
  ...turns: readonly (() => Promise<TurnRecord>)[]
): Promise<TurnRecord> {
  let last = await call.begin();
  if (last.rpc.final === undefined) return last;
  for (const turn of turns) {
    if (terminalOf(last.rpc) !== undefined) return last;
    await call.heardOut(last);
    if (kind !== undefined && !call.isAskedFor(kind)) break;
    last = await turn();
  }
  if (terminalOf(last.rpc) === undefined) await call.end();
  return last;
}

/** Says nothing until the bot gives up, and then says nothing once more. */
async function keepSilent(call: ProbeCall): Promise<void> {
  let last = await call.begin();
  if (last.rpc.final === undefined) return;
  const silence = (): Promise<TurnRecord> => call.turn('no_input', eventInput('NO_INPUT'));
  for (let round = 0; round < MAX_SILENCES && terminalOf(last.rpc) === undefined; round += 1) {
    await call.heardOut(last);
    if (!call.isAskedFor('silence')) break;
    last = await silence();
  }
  if (terminalOf(last.rpc) === undefined) await call.end();
  else await silence();
}

/** Presses the keys that end the call, and once more. */
async function pressUntilOver(call: ProbeCall, press: () => Promise<TurnRecord>): Promise<void> {
  const last = await call.begin();
  if (last.rpc.final === undefined) return;
  await call.heardOut(last);
  if (!call.isAskedFor('keys')) {
    await call.end();
    return;
  }
  const ending = await press();
  if (terminalOf(ending.rpc) === undefined) await call.end();
  else await press();
}
