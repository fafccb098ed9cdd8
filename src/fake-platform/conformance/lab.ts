// The tools of a check: facts about the server, its transport, the outcomes, and the calls that several checks
// share. Knows no wire and no rule.
import { pause } from '../../base/abort.ts';
import type { ListedAgent } from '../lines/line.ts';
import type { ProbeCall, ProbeTurn } from './call.ts';
import type { ExchangeLog, Proof } from './exchange.ts';
import type { Probe } from './probe.ts';
import type { Acts, RecordedCall, Slots, Survey } from './survey.ts';
import type { Suspect } from './suspect.ts';
import { CheckOutcome } from './verdict.ts';

type Recordings<Turn extends ProbeTurn, Call extends ProbeCall<Turn>> = Pick<Survey<Turn, Call>, 'calls' | 'welcomes' | 'placed'>;

/** The surroundings of one check. `close` must be called. */
export class Lab<
  Turn extends ProbeTurn = ProbeTurn,
  Call extends ProbeCall<Turn> = ProbeCall<Turn>,
  Transport extends Probe<Turn, Call> = Probe<Turn, Call>,
> {
  readonly suspect: Suspect;
  readonly probe: Transport;
  readonly #recordings: Recordings<Turn, Call>;
  readonly #slots: Slots;
  #shown: readonly Proof[] | undefined;
  #isClosed = false;
  /** When the check began to wait for recorded calls, monotonic, ms; undefined while it does not wait. */
  #lentFromMs: number | undefined;
  #lentMs = 0;

  /** @param slots - the check holds one of these, and returns it while it waits for recorded calls. */
  constructor(suspect: Suspect, probe: Transport, recordings: Recordings<Turn, Call>, slots: Slots) {
    this.suspect = suspect;
    this.probe = probe;
    this.#recordings = recordings;
    this.#slots = slots;
  }

  get log(): ExchangeLog {
    return this.probe.log;
  }

  /** Requires that the server accepts turns after a welcome; otherwise the check does not apply (G-12). */
  async demandKnown(): Promise<void> {
    if (!this.probe.mayEndWithWelcome || (await this.calls()).some(({ turns }) => turns.length > 1)) return;
    this.skip('no RPC after a welcome is taken');
  }

  /** A call that has begun. Without one, the check does not apply. */
  async begun(call: Call = this.probe.call()): Promise<{ readonly call: Call; readonly welcome: Turn }> {
    const welcome = await call.begin();
    if (welcome.final === undefined) this.skip('the call did not begin with a welcome and its FINAL');
    return { call, welcome };
  }

  /** A call that has begun and whose welcome has been heard. */
  async ready(): Promise<Call> {
    await this.demandKnown();
    const { call, welcome } = await this.begun();
    await call.heardOut(welcome);
    return call;
  }

  /** As {@link ready}, but the check does not apply when the bot does not ask for this input. */
  async readyFor(input: 'keys' | 'speech'): Promise<Call> {
    const call = await this.ready();
    if (!call.isAskedFor(input)) this.skip(input === 'keys' ? 'the bot asks for no keys' : 'the bot asks for keys only');
    return call;
  }

  /** Requires that an undisturbed call answers the keys of this run; otherwise the check does not apply. */
  async demandKeysWork(): Promise<void> {
    if ((await this.#firstOf('keys', 'dtmf'))?.isAnswered !== true)
      this.skip('the keys of this run are not answered in an ordinary call: name others with --press');
  }

  /** Requires that the server reports plain speech; otherwise the check does not apply. */
  async demandHeard(): Promise<void> {
    if ((await this.#firstOf('speech', 'speech'))?.hasStart !== true)
      this.skip('this bot reported no start of speech when it was spoken to in the plain form');
  }

  /** The calls that every check may examine. */
  calls(): Promise<readonly RecordedCall<Turn, Call>[]> {
    return this.#lent(() => this.#recordings.calls());
  }

  /** Calls to every listed agent, up to their welcomes. */
  welcomes(): Promise<readonly RecordedCall<Turn, Call>[]> {
    return this.#lent(() => this.#recordings.welcomes());
  }

  /** Calls in which `acts` are done, placed once for all checks that need them. */
  placed(acts: Acts<Call>): Promise<readonly RecordedCall<Turn, Call>[]> {
    return this.#lent(() => this.#recordings.placed(acts));
  }

  /** The agents that the server lists. Without a list, the check does not apply. */
  async agents(): Promise<readonly ListedAgent[]> {
    const agents = await this.probe.agents();
    return typeof agents === 'string' ? this.skip(agents) : agents;
  }

  /** Ends the check: it has found a breach. */
  fail(reason: string): never {
    throw new CheckOutcome('fail', reason);
  }

  /** Ends the check: it does not apply. */
  skip(reason: string): never {
    throw new CheckOutcome('not_applicable', reason);
  }

  /** Ends the check: it applies, but the result says nothing about the server. */
  giveUp(reason: string): never {
    throw new CheckOutcome('undecided', reason);
  }

  note(text: string): void {
    this.log.add('suite', '', text);
  }

  /** Waits for `ms` of real time. */
  async wait(ms: number): Promise<void> {
    await pause(ms, this.suspect.clock);
  }

  /** Makes these calls, which several checks share, the evidence of the verdict. */
  showCalls(calls: readonly Proof[]): void {
    this.#shown = calls;
  }

  /** The exchanges that are the evidence of the verdict. */
  get proof(): readonly ExchangeLog[] {
    return this.#shown?.map(({ log }) => log) ?? [this.log];
  }

  /** Whether the evidence shows that the server said it has no room. */
  get isOverloaded(): boolean {
    return this.probe.isOverloaded || (this.#shown ?? []).some(({ isOverloaded }) => isOverloaded);
  }

  /** How long the check has waited for recorded calls so far, ms. This does not count as time of the check. */
  get lentMs(): number {
    return this.#lentMs + (this.#lentFromMs === undefined ? 0 : this.suspect.clock.monotonicMs() - this.#lentFromMs);
  }

  /** What the caller says; a check that reads this has the need `speech`. */
  get speech(): Uint8Array {
    return this.suspect.speech ?? this.skip('the caller has no voice');
  }

  /** Closes everything that the check opened, and returns its slot. After that, the check can send nothing more. */
  close(): void {
    this.#isClosed = true;
    this.probe.close();
    if (this.#lentFromMs === undefined) this.#slots.give();
  }

  /** Waits for recorded calls and returns the slot meanwhile, because placing the calls needs slots. */
  async #lent<Result>(work: () => Promise<Result>): Promise<Result> {
    const { clock } = this.suspect;
    this.#lentFromMs = clock.monotonicMs();
    this.#slots.give();
    try {
      return await work();
    } finally {
      await this.#slots.take();
      // The check was stopped while it waited, so `close` did not return the slot.
      if (this.#isClosed) this.#slots.give();
      this.#lentMs = this.lentMs;
      this.#lentFromMs = undefined;
    }
  }

  async #firstOf(name: string, kind: ProbeTurn['kind']): Promise<Turn | undefined> {
    return (await this.calls()).find((call) => call.name === name)?.turns.find((turn) => turn.kind === kind);
  }
}
