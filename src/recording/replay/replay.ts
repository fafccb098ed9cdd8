// Plays a recorded call again: the same inputs at the same times to the current engine, on a clock that does not wait.
import { JumpingClock } from '../../base/jumping-clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Bot } from '../../bot/bot.ts';
import type { RecordedAnswer } from '../../bot/services.ts';
import { Catalog } from '../../bot/catalog.ts';
import { Admission } from '../../session/admission.ts';
import type { SessionObserver, Snapshots, TurnSink } from '../../session/ports.ts';
import { Sessions } from '../../session/sessions.ts';
import { fillersOf, type EngineSettings } from '../../session/settings.ts';
import type { CreateListener } from '../../session/turn/caller-audio.ts';
import type { Turn } from '../../session/turn/turn.ts';
import type { SpeechEvent } from '../../speech/endpointer.ts';
import type { RecordedEvent, Recording } from '../recording.ts';
import { audioOf, inputOf, playedOf, reasonOf, type Played } from './caller-side.ts';
import { RecordedRecognizer } from './recorded-recognizer.ts';
import { turnsOf, type TurnRecord } from './recorded-turns.ts';
import { RecordedVoice } from './recorded-voice.ts';
import { takenEvents } from './taken-events.ts';

export interface ReplayOptions {
  /** The current bots. */
  readonly bots: readonly Bot[];
  /** Settings of the server that recorded the call. */
  readonly settings: EngineSettings;
  readonly createListener: CreateListener;
  /** Whether assistants get the answers in the recording, or those of the services themselves. */
  readonly models: 'recorded' | 'live';
  readonly log: Logger;
}

/** How much longer than in the recording the last answer may take, ms; for example for a longer farewell. */
const LAST_ANSWER_MS = 60_000;
const STEP_MS = 500;
/** Time for the bot's last notifications, ms. */
const CLOSE_MS = 5000;
/** Longer than any wait for an answer, ms. */
const UNANSWERED_MS = 600_000;
const NEVER_MS = 2 ** 31 - 1;

const NO_LIMITS = { maxLoopDelayMs: 0, maxRssBytes: 0, maxHeapPercent: 0, maxStreams: Infinity, organizations: new Map() };
const NO_LOAD = { loopDelayMs: 0, rssBytes: 0, heapPercent: 0 };

/** No other process continues a replayed call. */
const NO_SNAPSHOTS: Snapshots = {
  ...{ isShared: false, canMove: false, save: () => undefined, forget: () => undefined },
  saved: () => Promise.resolve(),
  release: () => Promise.resolve(),
};

/**
 * Replays one call. While a bot is slower than in the recording, the clock runs at real speed.
 *
 * @returns the events, as in a recording; turns are in the order of the recording.
 * @throws AppError `agent_unknown` when the bot does not exist any more.
 */
export async function replay(recording: Recording, options: ReplayOptions): Promise<readonly RecordedEvent[]> {
  return new Replay(recording, options).run();
}

class Replay {
  readonly #recording: Recording;
  readonly #clock: JumpingClock;
  readonly #sessions: Sessions;
  readonly #voice: RecordedVoice;
  readonly #recorded: ReadonlyMap<string, TurnRecord>;
  readonly #events: RecordedEvent[] = [];
  /** Turns of the replay, by their ids in the recording. */
  readonly #turns = new Map<string, Turn>();
  /** Ids in the recording, by the ids of the replay. */
  readonly #names = new Map<string, string>();
  /** The turn that opens or gets an input, by its id in the recording. */
  #current: string | undefined;
  #isPushing = false;
  /** Turns whose speech has ended and whose words are still missing, by their ids in the recording. */
  #spoken: string[] = [];
  /** Whether promises may have to continue. */
  #isStirred = true;
  #onSpeech: (event: SpeechEvent) => void = () => undefined;
  /** The turn that the bot is answering. */
  #asked: string | undefined;

  constructor(recording: Recording, { bots, settings, createListener, models, log }: ReplayOptions) {
    const { header, events, botSound } = recording;
    const turns = turnsOf(events);
    const clock = new JumpingClock(header.call.startedAtMs, () => this.#isBotLate);
    const recognizer = new RecordedRecognizer({
      ...{ events, clock },
      turn: () => this.#spokenTurn(),
      digits: (turn) => askedDigits(turns, turn),
    });
    this.#recording = recording;
    this.#clock = clock;
    this.#recorded = new Map(turns.map((turn) => [turn.id, turn]));
    const fillers = new Set(bots.flatMap((bot) => fillersOf(settings, bot).say));
    this.#voice = new RecordedVoice({ turns, botSound, mode: header.mode, clock, fillers });
    const limits = { ...NO_LIMITS, maxSessions: 1, perOrganization: { maxSessions: 0, maxNewPerSecond: 0 } };
    this.#sessions = new Sessions(
      {
        // The sweeps of the recorded server ran at times of their own.
        settings: { ...settings, sweepMs: NEVER_MS },
        admission: new Admission({ limits, load: { reading: () => NO_LOAD }, clock }),
        snapshots: NO_SNAPSHOTS,
        voice: this.#voice,
        recognizer: recognizer.hasWorked || hasRecognizer(header) ? recognizer : undefined,
        answers: models === 'recorded' ? (...asked) => this.#answerOf(...asked) : undefined,
        recorder: { begin: (call) => takenEvents(this.#events, call, clock, (id) => this.#nameOf(id)) },
        observer: this.#observer(),
        ...{ clock, log },
        createListener: (given) => {
          this.#onSpeech = given.onEvent;
          return createListener(given);
        },
      },
      { current: new Catalog(bots) },
    );
  }

  async run(): Promise<readonly RecordedEvent[]> {
    let before: Played | undefined;
    for (const event of playedOf(this.#recording)) {
      // The first event belongs to the opening of its turn: nothing may come between them.
      const isFirst = before?.kind === 'turn_opened' && before.turn === event.turn && before.atMs === event.atMs;
      if (!isFirst && (this.#isStirred || !this.#clock.skipTo(event.atMs))) await this.#until(event.atMs);
      await this.#play(event);
      before = event;
    }
    await this.#until(this.#recording.events.at(-1)?.atMs ?? 0);
    for (let waitedMs = 0; waitedMs < LAST_ANSWER_MS && this.#isAnswering; waitedMs += STEP_MS) await this.#clock.advance(STEP_MS);
    const taken = [...this.#events];
    await Promise.all([this.#sessions.close(0), this.#clock.advance(CLOSE_MS)]);
    return taken;
  }

  async #until(atMs: number): Promise<void> {
    await this.#clock.advance(Math.max(0, atMs - this.#clock.monotonicMs()));
    this.#isStirred = false;
  }

  async #play(event: Played): Promise<void> {
    if (event.kind === 'turn_opened') {
      await this.#open(event);
      return;
    }
    const turn = this.#turns.get(event.turn);
    if (turn === undefined) return;
    this.#current = event.turn;
    this.#isStirred ||= event.kind !== 'audio';
    this.#isPushing = true;
    this.#push(turn, event);
    this.#isPushing = false;
  }

  #push(turn: Turn, event: Exclude<Played, { kind: 'turn_opened' }>): void {
    switch (event.kind) {
      case 'input':
        turn.push(inputOf(event.input));
        return;
      case 'audio':
        turn.push(audioOf(event, this.#recording.callerSound));
        return;
      case 'half_closed':
        turn.halfClose();
        return;
      case 'aborted':
        turn.abort(reasonOf(event.reason));
        return;
      case 'output':
        this.#onSpeech(event.output.kind === 'input_started' ? 'speech_started' : 'speech_ended');
    }
  }

  async #open({ turn: id, opensWith }: Extract<Played, { kind: 'turn_opened' }>): Promise<void> {
    const { call, mode, isTied } = this.#recording.header;
    const isHangUp = this.#recorded.get(id)?.input?.kind === 'hang_up';
    this.#isStirred = true;
    this.#current = id;
    const acquired = this.#sessions.acquire({ ...call, opensWith, mode, isTied });
    const session = acquired instanceof Promise ? await acquired : acquired;
    if (isHangUp || session.hasRoom) this.#turns.set(id, session.beginTurn(this.#sink(), isHangUp));
  }

  get #isAnswering(): boolean {
    return [...this.#turns.values()].some(({ state }) => state === 'answering');
  }

  #sink(): TurnSink {
    return {
      write: () => {
        this.#isStirred = true;
        return true;
      },
      onceDrained: () => undefined,
      complete: () => {
        this.#isStirred = true;
      },
      fail: () => {
        this.#isStirred = true;
      },
    };
  }

  #observer(): SessionObserver {
    const heard = (turnId: string): void => {
      this.#spoken = this.#spoken.filter((id) => id !== this.#nameOf(turnId));
    };
    return {
      turnStarted: (_call, turnId) => this.#names.set(turnId, this.#current ?? turnId),
      speechEnded: (_call, turnId) => this.#spoken.push(this.#nameOf(turnId)),
      botAsked: (_call, turnId) => {
        this.#answers(turnId);
        heard(turnId);
      },
      botAnswered: (_call, turnId) => {
        if (this.#asked === turnId) this.#asked = undefined;
      },
      botFailed: (_call, turnId, { code, message }) =>
        this.#events.push({
          ...{ kind: 'fact', event: 'bot_failed', atMs: this.#clock.monotonicMs(), turn: this.#nameOf(turnId) },
          details: { code, message },
        }),
      turnEnded: (_call, turnId) => {
        heard(turnId);
      },
    };
  }

  #answerOf(turnId: string, service: 'model' | 'tool', key: string): RecordedAnswer {
    const turn = this.#nameOf(turnId);
    const found = this.#recording.events.find(
      (event) => event.kind === 'service' && event.turn === turn && event.service === service && event.key === key,
    );
    if (found?.kind === 'service') return found;
    // In the recording nobody waited for this answer.
    return { tookMs: this.#recorded.get(turn)?.end === 'replied' ? 0 : UNANSWERED_MS };
  }

  #answers(turnId: string): void {
    const turn = this.#recorded.get(this.#nameOf(turnId));
    this.#asked = turnId;
    this.#voice.answers(turn);
    // The clock must not jump over the times at which the bot can be late.
    for (const atMs of [...(turn?.prompts ?? []).map((prompt) => prompt.atMs), turn?.answeredMs ?? turn?.closedMs ?? 0])
      this.#clock.after(atMs - this.#clock.monotonicMs(), () => undefined);
  }

  /** Whether the bot is later than in the recording with a prompt or its answer: it may wait for something outside of the process. */
  get #isBotLate(): boolean {
    if (this.#asked === undefined) return false;
    const turn = this.#recorded.get(this.#nameOf(this.#asked));
    return this.#clock.monotonicMs() >= Math.min(this.#voice.nextMs, turn?.answeredMs ?? turn?.closedMs ?? 0);
  }

  #nameOf(id: string): string {
    return this.#names.get(id) ?? id;
  }

  /** The turn whose utterance is recognized: the current one, or else the oldest whose utterance has not reached the bot. */
  #spokenTurn(): string | undefined {
    this.#isStirred = true;
    return this.#isPushing ? this.#current : (this.#spoken[0] ?? this.#current);
  }
}

function hasRecognizer({ settings: { recognizer } }: Recording['header']): boolean {
  const engine: unknown = Reflect.get(Object(recognizer), 'engine');
  return typeof engine === 'string' && engine !== 'none';
}

/** How many digits the turns before this one have asked for. */
function askedDigits(turns: readonly TurnRecord[], id: string): number {
  const index = turns.findIndex((turn) => turn.id === id);
  const next = turns.slice(0, index).findLast((turn) => turn.next?.kind === 'listen')?.next;
  return next?.kind === 'listen' ? next.digits : 1;
}
