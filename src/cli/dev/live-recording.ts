// A running call as a recording in memory, so that the page shows it like any recorded call. Withholds nothing, because the recording stays
// on a developer's machine. Bounded: a full recording drops further events and audio.
import type { Clock } from '../../base/clock.ts';
import { packageVersion } from '../../base/package-root.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { turnOpening, type Input } from '../../dialog/input.ts';
import type { Output, PromptAudio } from '../../dialog/output.ts';
import type { RecordedEvent, Recording, RecordingHeader, SoundRange } from '../../recording/recording.ts';
import { keptOutput } from '../../recording/redaction.ts';
import type { CallRecorder, HeardWords, RecordedCall, RecordedTurn, Recognized, ServiceAnswer } from '../../session/ports.ts';

/** Most events, without audio frames; a call of half an hour has about 2,000. */
const MAX_EVENTS = 20_000;
/** Most audio per side, bytes: an hour. */
const MAX_SOUND_BYTES = 3600 * 8000;

/** Audio in one buffer, which doubles its size when it is full. */
class Sounds {
  #bytes = new Uint8Array(65_536);
  #used = 0;

  get whole(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }

  add(sound: Uint8Array): SoundRange {
    const range = { from: this.#used, bytes: Math.min(sound.length, MAX_SOUND_BYTES - this.#used) };
    if (this.#used + range.bytes > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#used + range.bytes));
      larger.set(this.whole);
      this.#bytes = larger;
    }
    this.#bytes.set(sound.subarray(0, range.bytes), this.#used);
    this.#used += range.bytes;
    return range;
  }
}

/** One call. */
export class LiveRecording implements CallRecorder {
  readonly #clock: Clock;
  readonly #header: RecordingHeader;
  readonly #events: RecordedEvent[] = [];
  readonly #caller = new Sounds();
  readonly #bot = new Sounds();
  readonly #known = new WeakMap<PromptAudio, SoundRange>();
  readonly #openings = new Map<string, number>();
  /** `Clock.monotonicMs` at which the session began. */
  readonly startedAtMs: number;
  /** Number of events so far, without audio frames. */
  changes = 0;

  constructor({ call, bot, mode, isTied }: RecordedCall, clock: Clock) {
    this.#clock = clock;
    this.startedAtMs = clock.monotonicMs();
    const transport = isTied ? 'websocket' : 'grpc';
    const version = packageVersion();
    this.#header = { form: 1, id: call.conversationId, version, call, botVersion: bot.version, transport, mode, isTied, settings: {} };
  }

  get conversationId(): string {
    return this.#header.call.conversationId;
  }

  /** The recording of everything so far. */
  get recording(): Recording {
    // The opening of a turn is added with the turn's first event, but has an earlier time.
    const events = this.#events.toSorted((one, other) => one.atMs - other.atMs);
    return { header: this.#header, events, callerSound: this.#caller.whole, botSound: this.#bot.whole };
  }

  turnOpened({ id }: RecordedTurn): void {
    this.#openings.set(id, this.#nowMs);
  }

  input(turn: RecordedTurn, input: Input): void {
    this.#opened(turn, input);
    if (input.kind === 'audio') {
      const { audio, kind, ...format } = input;
      const range = this.#caller.add(audio);
      if (range.bytes > 0) this.#events.push({ atMs: this.#nowMs, turn: turn.id, kind, ...format, ...range });
    } else this.#add({ kind: 'input', turn: turn.id, input });
  }

  halfClosed(turn: RecordedTurn): void {
    this.#opened(turn, undefined);
    this.#add({ kind: 'half_closed', turn: turn.id });
  }

  aborted(turn: RecordedTurn, reason: string): void {
    this.#add({ kind: 'aborted', turn: turn.id, reason });
  }

  heard({ id }: RecordedTurn, { text, stable, isWhole }: HeardWords): void {
    this.#add({ kind: 'interim', turn: id, text, stable, isWhole });
  }

  recognized({ id }: Pick<RecordedTurn, 'id'>, { text, tookMs, failure }: Recognized): void {
    this.#add({ kind: 'words', turn: id, tookMs, ...(text !== undefined && { text }), ...(failure !== undefined && { failure }) });
  }

  output(turn: RecordedTurn, output: Output): void {
    this.#opened(turn, undefined);
    this.#add({ kind: 'output', turn: turn.id, output: keptOutput(output, false, (audio) => this.#soundOf(audio)) });
  }

  answered({ id }: RecordedTurn, state: JsonValue): void {
    this.#add({ kind: 'state', turn: id, state });
  }

  serviceAnswered({ id }: Pick<RecordedTurn, 'id'>, answer: ServiceAnswer): void {
    this.#add({ kind: 'service', turn: id, ...answer });
  }

  turnClosed(turn: RecordedTurn, end: string): void {
    this.#opened(turn, undefined);
    this.#add({ kind: 'turn_closed', turn: turn.id, end });
  }

  ended(end: string): void {
    this.#add({ kind: 'ended', end });
  }

  /** Adds a fact of the engine. */
  fact(event: string, turn: string | undefined, details: JsonObject): void {
    this.#add({ kind: 'fact', event, details, ...(turn !== undefined && { turn }) });
  }

  get #nowMs(): number {
    return this.#clock.monotonicMs() - this.startedAtMs;
  }

  /** Adds the opening of a turn: with the turn's first input, or without one when another event comes first. */
  #opened({ id, trackingId }: RecordedTurn, input: Input | undefined): void {
    const atMs = this.#openings.get(id);
    if (atMs === undefined) return;
    this.#openings.delete(id);
    this.#add({ kind: 'turn_opened', turn: id, opensWith: turnOpening(input), ...(trackingId !== undefined && { trackingId }) }, atMs);
  }

  #add(event: Timeless<RecordedEvent>, atMs = this.#nowMs): void {
    this.changes += 1;
    if (this.#events.length < MAX_EVENTS) this.#events.push({ ...event, atMs });
  }

  #soundOf(audio: PromptAudio): SoundRange {
    const sound = this.#known.get(audio) ?? this.#bot.add(audio.mulaw);
    this.#known.set(audio, sound);
    return sound;
  }
}

type Timeless<E> = E extends RecordedEvent ? Omit<E, 'atMs'> : never;
