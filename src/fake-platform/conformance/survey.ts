// The calls that many checks look at, placed once per run: one of each kind of input. What carries them is the line's business.
// Records and judges nothing.
import { waitAtMost } from '../../base/abort.ts';
import type { ProbeCall, ProbeIds, ProbeTurn } from './call.ts';
import { ExchangeLog, type Proof } from './exchange.ts';
import type { Slots } from './slots.ts';
import { speakingMs, type Suspect } from './suspect.ts';

/** A call that was placed for several checks. */
export interface RecordedCall<Turn extends ProbeTurn = ProbeTurn> extends Proof {
  readonly agentId: string;
  readonly turns: readonly Turn[];
  readonly ids: ProbeIds;
}

/** What a survey needs of a transport. */
export interface SurveyLine<Turn extends ProbeTurn, Call extends ProbeCall<Turn>, Recorded extends RecordedCall<Turn>> {
  /** A call on a connection of its own. */
  open(suspect: Suspect, agentId: string, log: ExchangeLog): Call;
  /** The ids of the agents that the server offers. @param opened - is told what to drop when the run ends. */
  agentIds(suspect: Suspect, opened: (droppable: Droppable) => void): Promise<readonly string[]>;
  /** The record of a call that is over. */
  recorded(call: Call, record: RecordedCall<Turn>): Recorded;
  /** Calls of this transport beside those that every one has, by name. */
  readonly acts?: Readonly<Record<string, (call: Call) => Promise<unknown>>>;
}

/** Something that can be ended at once. */
export interface Droppable {
  drop(): void;
}

/** Reports of silence after which a bot that still asks again is left alone. */
const MAX_SILENCES = 4;
/** Agents whose welcome is listened to. */
export const MAX_AGENTS = 6;
/** Longest time of one call beside what the caller says, ms: a welcome, silence until the bot gives up, and every answer late. */
const MAX_CALL_MS = 300_000;

/** The calls of one run, placed when they are first asked for. */
export class Survey<Turn extends ProbeTurn, Call extends ProbeCall<Turn>, Recorded extends RecordedCall<Turn>> {
  readonly #suspect: Suspect;
  readonly #slots: Slots;
  readonly #line: SurveyLine<Turn, Call, Recorded>;
  readonly #open = new Set<Droppable>();
  #isClosed = false;
  #calls: Promise<readonly Recorded[]> | undefined;
  #welcomes: Promise<readonly Recorded[]> | undefined;

  /** @param slots - of which each call takes one. Whoever waits for a call must not hold the last. */
  constructor(suspect: Suspect, slots: Slots, line: SurveyLine<Turn, Call, Recorded>) {
    this.#suspect = suspect;
    this.#slots = slots;
    this.#line = line;
  }

  /** Gives up the calls that are still running, and places no more. */
  close(): void {
    this.#isClosed = true;
    for (const each of this.#open) each.drop();
  }

  /** One call of each kind of input, with all their turns. */
  calls(): Promise<readonly Recorded[]> {
    this.#calls ??= this.#placeAll();
    return this.#calls;
  }

  /** A call to each agent on the list, up to its welcome. */
  welcomes(): Promise<readonly Recorded[]> {
    this.#welcomes ??= this.#listen();
    return this.#welcomes;
  }

  /** Places one call. @param act - what is done in it. */
  place(name: string, agentId: string, act: (call: Call) => Promise<unknown>): Promise<Recorded> {
    const { clock } = this.#suspect;
    return this.#slots.with(async () => {
      const limitMs = MAX_CALL_MS + 2 * speakingMs(this.#suspect);
      const log = new ExchangeLog(clock);
      const call = this.#line.open(this.#suspect, agentId, log);
      this.#keep(call);
      try {
        const { kind } = await waitAtMost(act(call), limitMs, clock);
        if (kind === 'timeout') log.add('suite', '', `this call was given up after ${String(Math.round(limitMs / 1000))} s`);
        const { ids, turns, isOverloaded } = call;
        return this.#line.recorded(call, { name, agentId, log, ids, turns: [...turns], isOverloaded });
      } finally {
        call.drop();
        this.#open.delete(call);
      }
    });
  }

  #placeAll(): Promise<readonly Recorded[]> {
    const { speech, press, endPress, transferPress, agentId } = this.#suspect;
    const acts: Record<string, (call: Call) => Promise<unknown>> = {
      silence: (call) => keepSilent(call, press),
      keys: (call) =>
        goOn(
          call,
          'keys',
          () => call.firstKey(),
          () => call.press(press),
          () => call.press(press),
        ),
      flow: (call) => goOn(call, undefined, () => call.flow()),
      ...this.#line.acts,
    };
    if (speech !== undefined)
      acts['speech'] = (call) =>
        goOn(
          call,
          'speech',
          () => call.sayPlainly(speech),
          () => call.sayPlainly(speech),
        );
    if (endPress.length > 0) acts['end'] = (call) => pressUntilOver(call, endPress);
    if (transferPress.length > 0) acts['transfer'] = (call) => pressUntilOver(call, transferPress);
    return Promise.all(Object.entries(acts).map(([name, act]) => this.place(name, agentId, act)));
  }

  async #listen(): Promise<readonly Recorded[]> {
    const ids = await this.#slots.with(() =>
      this.#line.agentIds(this.#suspect, (droppable) => {
        this.#keep(droppable);
      }),
    );
    return Promise.all(ids.slice(0, MAX_AGENTS).map((id) => this.place('welcome', id, (call) => goOn(call, undefined))));
  }

  #keep(droppable: Droppable): void {
    this.#open.add(droppable);
    if (this.#isClosed) droppable.drop();
  }
}

/**
 * A whole call: its welcome, these turns one after the other, and its end. Stops where the server ends it, gives no welcome or
 * asks for no input of this kind.
 */
async function goOn<Turn extends ProbeTurn>(
  call: ProbeCall<Turn>,
  kind: 'speech' | 'keys' | undefined,
  ...turns: readonly (() => Promise<Turn>)[]
): Promise<void> {
  let last = await call.begin();
  if (last.final === undefined) return;
  for (const turn of turns) {
    await call.heardOut(last);
    if (last.terminal !== undefined || call.isOver || (kind !== undefined && !call.isAskedFor(kind))) break;
    last = await turn();
  }
  if (last.terminal === undefined) await call.hangUp();
  else await call.close();
}

/** Says nothing until the bot gives up, and then says nothing once more. */
async function keepSilent<Turn extends ProbeTurn>(call: ProbeCall<Turn>, keys: Suspect['press']): Promise<void> {
  let last = await call.begin();
  if (last.final === undefined) return;
  for (let round = 0; round < MAX_SILENCES && last.terminal === undefined && !call.isOver; round += 1) {
    await call.heardOut(last);
    if (!call.isAskedFor('silence')) break;
    last = await call.silence();
  }
  if (last.terminal === undefined) await call.hangUp();
  else await call.repeatBehindEnd(last, keys);
}

/** Presses the keys that end the call, and once more where the transport allows it. */
async function pressUntilOver<Turn extends ProbeTurn>(call: ProbeCall<Turn>, keys: Suspect['press']): Promise<void> {
  const welcome = await call.begin();
  if (welcome.final === undefined) return;
  await call.heardOut(welcome);
  if (!call.isAskedFor('keys')) {
    await call.hangUp();
    return;
  }
  const ending = await call.press(keys);
  if (ending.terminal === undefined) await call.hangUp();
  else await call.repeatBehindEnd(ending, keys);
}
