// Two engines that share a place for their calls, as two processes do, and a bot that tells them apart by nothing.
import type { Bot, ReplyingEvent } from '../../src/bot/bot.ts';
import { bot, go, say } from '../../src/bot/index.ts';
import type { EngineSettings } from '../../src/session/settings.ts';
import { testEngine, type TestEngine } from './engine.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryCall } from './memory-transport.ts';
import { SharedPlace } from './shared-store.ts';

/** The state of the bot {@link counting}. */
export interface Counting {
  readonly count: number;
  readonly notes: readonly string[];
}

/** Says how many inputs it has had; `9` makes it say something long, `8` a goodbye, and `7` a long one. */
function counting(asked: ReplyingEvent[] = [], notes: string[] = [], version = 1) {
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

/** Two processes with one place for their calls. */
export interface Two {
  readonly a: TestEngine;
  readonly b: TestEngine;
  readonly place: SharedPlace;
  readonly clock: FakeClock;
  readonly asked: ReplyingEvent[];
  readonly notes: string[];
}

/**
 * @param versions - of the bot in each.
 * @param other - the bot in place of {@link counting}.
 */
export async function two(settings: Partial<EngineSettings> = {}, versions: readonly [number, number] = [1, 1], other?: Bot): Promise<Two> {
  const clock = new FakeClock();
  const place = new SharedPlace(clock);
  const asked: ReplyingEvent[] = [];
  const notes: string[] = [];
  const engine = (owner: string, version: number): Promise<TestEngine> => {
    const parts = { clock, settings, store: place.storeOf(owner), interruptions: place.interruptionsOf(owner) };
    return testEngine([other ?? counting(asked, notes, version)], parts);
  };
  return { a: await engine('a', versions[0]), b: await engine('b', versions[1]), place, clock, asked, notes };
}

/** Something that waits until the test opens it. */
export function gateOf(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** The call has begun, and its welcome was heard. */
export async function begun({ a, clock }: Pick<Two, 'a' | 'clock'>): Promise<void> {
  await new MemoryCall(a.sessions).start();
  await clock.advanceAsync(1000);
}

/** Lets the turn begin to wait before the time goes on. */
export async function after<T>(clock: FakeClock, ms: number, work: Promise<T>): Promise<T> {
  await clock.advanceAsync(ms);
  return work;
}
