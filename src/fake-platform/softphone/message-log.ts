// Every message between platform and server in one call, as people read them: consecutive pieces of audio are one entry. Bounded.
import type { Clock } from '../../base/clock.ts';
import type { Answer } from '../caller/answer.ts';
import type { Finding } from '../caller/finding.ts';
import type { Line, LineEnd, PlatformInput } from '../lines/line.ts';
import { wrappedLine, wrappedListener, wrappedTurn } from '../lines/wrapped-line.ts';

export interface LoggedMessage {
  /** `Clock.monotonicMs` of the message, or of the first one when pieces of audio were joined. */
  readonly monotonicMs: number;
  /** Number of the turn, from 1. */
  readonly turn: number;
  readonly from: 'platform' | 'server';
  readonly name: string;
  readonly detail?: string;
  /** Set for messages with audio: its bytes, summed up when pieces were joined. */
  readonly bytes?: number;
  readonly findings?: readonly Pick<Finding, 'code' | 'rule' | 'message'>[];
}

/** Most messages of a call that are kept; later ones are dropped. */
const MAX_MESSAGES = 5000;

type Entry = { -readonly [K in keyof LoggedMessage]: LoggedMessage[K] };

export class MessageLog {
  readonly #clock: Clock;
  readonly #entries: Entry[] = [];
  /** Arrival of the first sound of each reply, `Clock.monotonicMs` by number of the turn. */
  readonly #firstSounds = new Map<number, number>();
  #turns = 0;
  /** `Clock.monotonicMs` at which the call began. */
  startedAtMs = 0;
  /** Number of messages and findings; joined pieces of audio count once. */
  changes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get entries(): readonly LoggedMessage[] {
    return this.#entries;
  }

  /** Arrival of the first sound of each reply, `Clock.monotonicMs`, in order. */
  get firstSounds(): readonly number[] {
    return [...this.#firstSounds.values()];
  }

  /** Adds a finding to the server's last message in the turn of the finding. */
  found({ turn, code, rule, message }: Finding): void {
    const last = this.#entries.findLast((entry) => entry.from === 'server' && (turn === undefined || entry.turn === turn));
    const entry = last ?? this.#entries.at(-1);
    this.changes += 1;
    if (entry !== undefined) entry.findings = [...(entry.findings ?? []), { code, message, ...(rule !== undefined && { rule }) }];
  }

  /** Wraps a line so that its messages are logged. Called when the call begins. */
  over(line: Line): Line {
    this.startedAtMs = this.#clock.monotonicMs();
    return wrappedLine(line, {
      open: (listener) => {
        this.#turns += 1;
        const turn = this.#turns;
        const watched = wrappedListener(listener, {
          answered: (answer) => {
            this.#answered(turn, answer);
            listener.answered(answer);
          },
          ended: (end) => {
            this.#add({ turn, from: 'server', ...endOf(end) });
            listener.ended(end);
          },
        });
        const opened = line.open(watched);
        return wrappedTurn(opened, {
          send: (input) => {
            this.#sent(turn, input);
            opened.send(input);
          },
          halfClose: () => {
            this.#add({ turn, from: 'platform', name: 'half-close' });
            opened.halfClose();
          },
          cancel: () => {
            this.#add({ turn, from: 'platform', name: 'cancel' });
            opened.cancel();
          },
        });
      },
    });
  }

  #sent(turn: number, input: PlatformInput): void {
    const bytes = input.kind === 'audio' ? { bytes: input.audio.length } : {};
    const detail = detailOf(input);
    this.#add({ turn, from: 'platform', name: input.kind, ...bytes, ...(detail !== undefined && { detail }) });
  }

  #answered(turn: number, { type, prompts, event }: Answer): void {
    const bytes = prompts.reduce((sum, { audio }) => sum + audio.length, 0);
    if (bytes > 0 && !this.#firstSounds.has(turn)) this.#firstSounds.set(turn, this.#clock.monotonicMs());
    const texts = prompts.flatMap(({ text }) => (text === '' ? [] : [`"${text}"`]));
    const detail = [...(event === undefined ? [] : [event.name === '' ? event.kind : `${event.kind} ${event.name}`]), ...texts].join(', ');
    this.#add({ turn, from: 'server', name: type, ...(bytes > 0 && { bytes }), ...(detail !== '' && { detail }) });
  }

  #add(message: Omit<LoggedMessage, 'monotonicMs'>): void {
    const last = this.#entries.findLast(({ turn, from }) => turn === message.turn && from === message.from);
    const isMore = last?.name === message.name && message.bytes !== undefined && last.bytes !== undefined && message.detail === undefined;
    if (isMore) {
      last.bytes = (last.bytes ?? 0) + (message.bytes ?? 0);
      return;
    }
    this.changes += 1;
    if (this.#entries.length < MAX_MESSAGES) this.#entries.push({ monotonicMs: this.#clock.monotonicMs(), ...message });
  }
}

/** What an input contains besides its kind. Keys are shown, because the log is for the developer who pressed them. */
function detailOf(input: PlatformInput): string | undefined {
  if (input.kind === 'dtmf') return input.keys.join('');
  return input.kind === 'custom_event' || (input.kind === 'session_start' && input.name !== '') ? input.name : undefined;
}

function endOf(end: LineEnd): Pick<LoggedMessage, 'name' | 'detail'> {
  return end.kind === 'completed' ? { name: 'completed' } : { name: 'broken', detail: `${end.failure.code}: ${end.failure.message}` };
}
