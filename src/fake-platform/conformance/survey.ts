// The calls that many checks look at: one of each kind of input, placed once per run. Records and judges nothing.
import { randomUUID } from 'node:crypto';
import { ExchangeLog } from './exchange.ts';
import type { Suspect } from './suspect.ts';
import { ProbeCall, eventInput, isBroken, plainSpeech, terminalOf, type TurnRecord } from './probe-call.ts';
import { structFromJson } from '../../contract/struct.ts';
import { WireConnection } from './wire.ts';

/** A call that was placed for several checks. */
export interface CallRecord {
  /** What it was placed for, such as `speech`. */
  readonly name: string;
  readonly agentId: string;
  readonly turns: readonly TurnRecord[];
  readonly log: ExchangeLog;
}

/** Reports of silence after which a bot that still asks again is left alone. */
const MAX_SILENCES = 4;
/** Agents whose welcome is listened to. */
const MAX_AGENTS = 6;

type Act = (call: ProbeCall) => Promise<unknown>;

/** The calls of one run, placed when they are first asked for. */
export class Survey {
  readonly #suspect: Suspect;
  #calls: Promise<readonly CallRecord[]> | undefined;
  #welcomes: Promise<readonly CallRecord[]> | undefined;

  constructor(suspect: Suspect) {
    this.#suspect = suspect;
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
            () => call.turn('dtmf_start', eventInput('START_OF_DTMF')),
            () => call.press(press),
          ),
      ],
      ['flow', (call) => goOn(call, () => call.turn('custom_event', FLOW_EVENT))],
    ];
    if (speech !== undefined) acts.push(['speech', (call) => goOn(call, () => call.speak(plainSpeech(speech)))]);
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
      const list = await connection.list(organizationId, timing.answerMs, new ExchangeLog(this.#suspect.clock));
      const agents = 'code' in list ? [] : (list.virtual_agents ?? []).slice(0, MAX_AGENTS);
      return await Promise.all(agents.map(({ virtual_agent_id: agentId = '' }) => this.#place('welcome', agentId, (call) => goOn(call))));
    } finally {
      connection.close();
    }
  }

  async #place(name: string, agentId: string, act: Act): Promise<CallRecord> {
    const { clock, timing, organizationId } = this.#suspect;
    const log = new ExchangeLog(clock);
    const connection = this.#connect();
    const call = new ProbeCall(connection, clock, log, timing, { conversationId: randomUUID(), organizationId, agentId });
    try {
      await act(call);
      return { name, agentId, turns: call.turns, log };
    } finally {
      connection.close();
    }
  }

  #connect(): WireConnection {
    return new WireConnection({ ...this.#suspect, authorization: this.#suspect.token });
  }
}

/** Whether the server knew the call of a turn. */
function wasTaken({ rpc }: TurnRecord): boolean {
  return !isBroken(rpc);
}

/** What a flow may send at any time (G-72). */
const FLOW_EVENT = eventInput('CUSTOM_EVENT', { name: 'conformance', parameters: structFromJson({ asked_by: 'conformance' }) });

/** A whole call: its welcome, these turns one after the other, and its end. Stops where the server ends it or gives no welcome. */
async function goOn(call: ProbeCall, ...turns: readonly (() => Promise<TurnRecord>)[]): Promise<TurnRecord> {
  let last = await call.begin();
  if (last.rpc.final === undefined) return last;
  for (const turn of turns) {
    if (terminalOf(last.rpc) !== undefined) return last;
    await call.heardOut(last);
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
  const ending = await press();
  if (terminalOf(ending.rpc) === undefined) await call.end();
  else await press();
}
