// The homes of one call in one process: engines that find what the others have left of it, and a bot that tells them apart by
// nothing. Who may have which call is not decided here: a test says when a call goes on somewhere else.
import type { Bot, ReplyingEvent } from '../../src/bot/bot.ts';
import { bot, go, say } from '../../src/bot/index.ts';
import { throughJson, type JsonObject } from '../../src/base/json.ts';
import { callId, type CallKey } from '../../src/dialog/call.ts';
import type { Restored } from '../../src/dialog/home.ts';
import type { Snapshots } from '../../src/session/ports.ts';
import type { CallOpening } from '../../src/session/sessions.ts';
import type { EngineSettings } from '../../src/session/settings.ts';
import type { Snapshot } from '../../src/session/snapshot/snapshot.ts';
import { testEngine, type TestEngine } from './engine.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryCall } from './memory-transport.ts';

/** The call of most tests. */
const KEY: CallKey = { organizationId: 'org', conversationId: 'call-1' };

/** The newest snapshot of each call, through JSON as from another machine. */
export class LeftSnapshots implements Snapshots {
  isShared = true;
  canMove = true;
  /** What was asked for, as `name conversation`. */
  readonly asked: string[] = [];
  /** What `saved` waits for. */
  stored: Promise<void> = Promise.resolve();
  /** What `release` waits for. */
  released: Promise<void> = Promise.resolve();
  readonly #left = new Map<string, Snapshot>();
  readonly #moves = new Map<string, number>();

  save(call: CallKey, snapshot: Snapshot): void {
    this.asked.push(`save ${call.conversationId}`);
    this.#left.set(callId(call), snapshot);
  }

  saved(call: CallKey): Promise<void> {
    this.asked.push(`saved ${call.conversationId}`);
    return this.stored;
  }

  release(call: CallKey, snapshot?: Snapshot): Promise<void> {
    this.asked.push(`release ${call.conversationId}`);
    if (snapshot !== undefined) this.#left.set(callId(call), snapshot);
    return this.released;
  }

  forget(call: CallKey): void {
    this.asked.push(`forget ${call.conversationId}`);
    this.#left.delete(callId(call));
  }

  /** Undefined when nothing of the call was left. */
  newest(call: CallKey = KEY): Snapshot | undefined {
    return this.#left.get(callId(call));
  }

  /** What its next home is given. @throws when nothing was left. */
  restored(call: CallKey = KEY): Restored {
    const snapshot = this.newest(call);
    if (snapshot === undefined) throw new Error('nothing was left of the call');
    const generation = (this.#moves.get(callId(call)) ?? 0) + 1;
    this.#moves.set(callId(call), generation);
    // Frozen and through JSON, as from another machine; the form of a snapshot is an object.
    return { snapshot: throughJson(snapshot) as JsonObject, generation };
  }
}

/** The state of the bot {@link counting}. */
export interface Counting {
  readonly count: number;
  readonly notes: readonly string[];
}

/** Says how many inputs it has had; `9` makes it say something long, `8` a goodbye, and `7` a long one. */
function counting(asked: ReplyingEvent[], notes: string[], version: number) {
  return bot<Counting>({
    id: 'counting',
    name: 'Counting',
    version,
    migrate: (state) => state as unknown as Counting,
    session_start: () => go({ count: 0, notes: [] }, say('Welcome.').listen()),
    dtmf_input: (state, event) => {
      asked.push(event);
      const next = { ...state, count: state.count + 1 };
      if (event.digits === '7') return go(next, say('G'.repeat(1200)).end('done'));
      if (event.digits === '8') return go(next, say('Goodbye.').end('done'));
      return go(next, say(event.digits === '9' ? 'x'.repeat(200) : `Input ${String(next.count)}.`).listen());
    },
    otherwise: (state, event) => {
      asked.push(event);
      return go(state, say('What?').listen());
    },
    barge_in: (state, { by, heard }) => {
      notes.push(`barge_in ${by} ${String(heard.ms)}`);
      return { ...state, notes: [...state.notes, 'barge_in'] };
    },
    session_end: (_state, { by }) => {
      notes.push(`session_end ${by}`);
    },
  });
}

/** Two processes that can go on with the calls of each other. */
export interface Homes {
  readonly a: TestEngine;
  readonly b: TestEngine;
  readonly left: LeftSnapshots;
  readonly clock: FakeClock;
  /** What the bot was asked, and notified of, in both. */
  readonly asked: ReplyingEvent[];
  readonly notes: string[];
  /** The call at its next home, `b`, with what was left of it. */
  readonly next: (opening?: Partial<CallOpening>) => MemoryCall;
}

/**
 * @param versions - of the bot in each.
 * @param other - the bot in place of {@link counting}.
 */
export async function homes(
  options: Partial<EngineSettings> & Pick<NonNullable<Parameters<typeof testEngine>[1]>, 'recognizer' | 'voice'> = {},
  versions: readonly [number, number] = [1, 1],
  other?: Bot,
): Promise<Homes> {
  const { recognizer, voice, ...settings } = options;
  const [clock, left] = [new FakeClock(), new LeftSnapshots()];
  const asked: ReplyingEvent[] = [];
  const notes: string[] = [];
  const engine = (version: number): Promise<TestEngine> =>
    testEngine([other ?? counting(asked, notes, version)], {
      ...{ clock, settings, snapshots: left },
      ...(recognizer === undefined ? {} : { recognizer }),
      ...(voice === undefined ? {} : { voice }),
    });
  const [a, b] = [await engine(versions[0]), await engine(versions[1])];
  const next = (opening: Partial<CallOpening> = {}): MemoryCall => {
    const key = { ...KEY, ...opening };
    return new MemoryCall(b.sessions, { ...opening, restored: left.restored(key) });
  };
  return { a, b, left, clock, asked, notes, next };
}

/** The call has begun, and its welcome was heard. */
export async function begun({ a, clock }: Pick<Homes, 'a' | 'clock'>): Promise<void> {
  await new MemoryCall(a.sessions).start();
  await clock.advanceAsync(1000);
}

/** Its first home stops, and lets the call go. */
export async function moved({ a, clock }: Pick<Homes, 'a' | 'clock'>): Promise<void> {
  const closing = a.sessions.close(2000);
  await after(clock, 3000, closing);
}

/** Something that waits until the test opens it. */
export function gateOf(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Lets the turn begin to wait before the time goes on. */
export async function after<T>(clock: FakeClock, ms: number, work: Promise<T>): Promise<T> {
  await clock.advanceAsync(ms);
  return work;
}
