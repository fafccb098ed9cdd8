// The calls that many checks examine, placed once per run: one for each kind of input, and others that the checks of one transport
// request. Records calls and judges nothing.
import { waitAtMost } from '../../base/abort.ts';
import type { ProbeCall, ProbeTurn } from './call.ts';
import type { Proof } from './exchange.ts';
import type { Probe } from './probe.ts';
import { speakingMs, type Suspect } from './suspect.ts';

/** A limited number of slots, granted in the order of the requests. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = Math.max(1, count);
  }

  /** Waits for a slot. Return it after use. */
  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** Runs `work` with a slot. */
  async with<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }
}

/** A call that was placed for several checks. */
export interface RecordedCall<Turn extends ProbeTurn = ProbeTurn, Call extends ProbeCall<Turn> = ProbeCall<Turn>> extends Proof {
  readonly agentId: string;
  readonly call: Call;
  /** The turns of the call that checks may examine. */
  readonly turns: readonly Turn[];
}

export type Acts<Call extends ProbeCall> = Readonly<Record<string, (call: Call, suspect: Suspect) => Promise<unknown>>>;

/** Most reports of silence in one call: after these, the caller hangs up although the bot still asks. */
const MAX_SILENCES = 4;
/** Most agents whose welcome is recorded. */
export const MAX_AGENTS = 6;
/** Longest time of one call without the caller's speech, ms: enough for silence until the bot ends the call, with every answer late. */
const MAX_CALL_MS = 300_000;

/** The recorded calls of one run, each placed at its first request. */
export class Survey<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> {
  readonly #suspect: Suspect;
  readonly #slots: Slots;
  readonly #openProbe: () => Probe<Turn, Call>;
  readonly #acts: Acts<Call>;
  readonly #open = new Set<Probe<Turn, Call>>();
  readonly #placed = new Map<Acts<Call>, Promise<readonly RecordedCall<Turn, Call>[]>>();
  #isClosed = false;
  #welcomes: Promise<readonly RecordedCall<Turn, Call>[]> | undefined;

  /**
   * @param slots - each call takes one, so code that waits for a call must not hold the last one.
   * @param more - acts that only this transport has.
   */
  constructor(suspect: Suspect, slots: Slots, openProbe: () => Probe<Turn, Call>, more: Acts<Call> = {}) {
    this.#suspect = suspect;
    this.#slots = slots;
    this.#openProbe = openProbe;
    this.#acts = { ...ordinaryActs<Turn>(suspect), ...more };
  }

  /** Stops the calls under way, and places no more. */
  close(): void {
    this.#isClosed = true;
    for (const probe of this.#open) probe.close();
  }

  /** A call for each kind of input. If the server accepted no turn after a welcome, with welcomes only: that breaks one rule (G-12). */
  async calls(): Promise<readonly RecordedCall<Turn, Call>[]> {
    const calls = await this.placed(this.#acts);
    return calls.flatMap(({ turns }) => turns.slice(1)).some(({ isBroken }) => !isBroken)
      ? calls
      : calls.map((call) => ({ ...call, turns: call.turns.slice(0, 1) }));
  }

  /** A call to each agent on the list, up to its welcome. */
  welcomes(): Promise<readonly RecordedCall<Turn, Call>[]> {
    this.#welcomes ??= this.#listen();
    return this.#welcomes;
  }

  /** A call for each of these acts. The same object gets the same calls. */
  placed(acts: Acts<Call>): Promise<readonly RecordedCall<Turn, Call>[]> {
    const { agentId } = this.#suspect;
    const placed = this.#placed.get(acts) ?? Promise.all(Object.entries(acts).map(([name, act]) => this.#place(name, agentId, act)));
    this.#placed.set(acts, placed);
    return placed;
  }

  async #listen(): Promise<readonly RecordedCall<Turn, Call>[]> {
    const agents = await this.#with((probe) => probe.agents());
    const ids = typeof agents === 'string' ? [] : agents.map(({ id }) => id);
    return Promise.all(ids.slice(0, MAX_AGENTS).map((id) => this.#place('welcome', id, (call) => goOn(call, undefined))));
  }

  #place(name: string, agentId: string, act: Acts<Call>[string]): Promise<RecordedCall<Turn, Call>> {
    return this.#with(async (probe) => {
      const limitMs = MAX_CALL_MS + 2 * speakingMs(this.#suspect);
      const { log } = probe;
      const call = probe.call({ agentId });
      const { kind } = await waitAtMost(act(call, this.#suspect), limitMs, this.#suspect.clock);
      if (kind === 'timeout') log.add('suite', '', `this call was given up after ${String(Math.round(limitMs / 1000))} s`);
      return { name, agentId, log, call, turns: [...call.turns], isOverloaded: probe.isOverloaded };
    });
  }

  /** Runs `work` with a slot and its own transport. */
  #with<Result>(work: (probe: Probe<Turn, Call>) => Promise<Result>): Promise<Result> {
    return this.#slots.with(async () => {
      const probe = this.#openProbe();
      this.#open.add(probe);
      if (this.#isClosed) probe.close();
      try {
        return await work(probe);
      } finally {
        probe.close();
        this.#open.delete(probe);
      }
    });
  }
}

/** The acts of one call for each kind of input. */
function ordinaryActs<Turn extends ProbeTurn>({ speech, press, endPress, transferPress }: Suspect): Acts<ProbeCall<Turn>> {
  const twice = (turn: () => Promise<Turn>) => [turn, turn] as const;
  return {
    silence: (call) => keepSilent(call, press),
    keys: (call) => goOn(call, 'keys', () => call.take('dtmf_start'), ...twice(() => call.press(press))),
    flow: (call) => goOn(call, undefined, () => call.take('custom_event')),
    ...(speech === undefined ? {} : { speech: (call) => goOn(call, 'speech', ...twice(() => call.say(speech))) }),
    ...(endPress.length === 0 ? {} : { end: (call) => pressUntilOver(call, endPress) }),
    ...(transferPress.length === 0 ? {} : { transfer: (call) => pressUntilOver(call, transferPress) }),
  };
}

/**
 * A whole call: its welcome, these turns one after the other, and its end. Stops earlier when the server ends the call, sends no
 * welcome, or does not ask for input of this kind.
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

/** Stays silent until the bot ends the call, and then reports silence once more if the transport allows it. */
async function keepSilent<Turn extends ProbeTurn>(call: ProbeCall<Turn>, keys: Suspect['press']): Promise<void> {
  let last = await call.begin();
  if (last.final === undefined) return;
  for (let round = 0; round < MAX_SILENCES && last.terminal === undefined && !call.isOver; round += 1) {
    await call.heardOut(last);
    if (!call.isAskedFor('silence')) break;
    last = await call.take('no_input');
  }
  if (last.terminal === undefined) await call.hangUp();
  else await call.repeatBehindEnd(last, keys);
}

/** Presses the keys that end the call, and presses them again if the transport allows it. */
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
