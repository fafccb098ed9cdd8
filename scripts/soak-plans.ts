// What each call of the soak does: chosen at random, the same for the same seed and number. Plans only; places no call.
import { seededNumbers } from '../src/base/seeded-numbers.ts';
import { KEYS, keysOf, type Key } from '../src/fake-platform/caller/key.ts';
import type { PlatformHabits } from '../src/fake-platform/caller/key-entry.ts';
import type { Step } from '../src/fake-platform/caller/script.ts';

/** What callers say; every phrase is spoken once, before the calls. */
export const PHRASES = [
  'Hello, can you hear me?',
  'When do you open?',
  'Yes.',
  'I would like to speak to a person, please.',
  'My number is zero six one, four four seven, two nine.',
  'Hm.',
] as const;

/** The codes that callers enter; each is read back by a prompt of its own, so there are not many. */
const CODES = ['4711', '1234', '0000', '9876', '2580'] as const;

/** A call that keeps to the turn grammar. */
export interface FairPlan {
  readonly kind: 'fair';
  readonly agentId: string;
  readonly script: readonly Step[];
  readonly habits: PlatformHabits;
  /** ms since the call began; undefined when the script ends by itself. */
  readonly hangUpAtMs: number | undefined;
  /** The caller's line breaks at this time: everything is given up at once. */
  readonly breakAtMs: number | undefined;
  readonly bearer: boolean;
}

/** One thing that a rough call does. */
export type RoughAction =
  /** The start once more, at the same time as whatever runs. */
  | { readonly kind: 'start_again' }
  | { readonly kind: 'custom_event' }
  | { readonly kind: 'no_input' }
  | { readonly kind: 'keys'; readonly keys: readonly Key[]; readonly isAnnounced: boolean }
  /** Speech that is half-closed or cancelled in the middle. */
  | { readonly kind: 'speech'; readonly phrase: number; readonly frames: number; readonly end: 'half_close' | 'cancel' }
  /** An RPC that is cancelled before it says anything; not at once, or Node's client keeps the cancellation to itself. */
  | { readonly kind: 'open_and_cancel'; readonly afterMs: number }
  /** A reply is asked for and its RPC cancelled while it comes. */
  | { readonly kind: 'cancel_reply'; readonly afterMs: number }
  /** Two streams of silence at once. */
  | { readonly kind: 'overlap'; readonly frames: number };

/** A call that the platform would not hold like this, but that must do no harm. */
export interface RoughPlan {
  readonly kind: 'rough';
  readonly agentId: string;
  readonly actions: readonly RoughAction[];
  /** How it ends: with SESSION_END, by cancelling what is open, or not at all. */
  readonly end: 'hang_up' | 'cancel' | 'vanish';
}

/**
 * The plan of one call.
 *
 * @param phrases - the spoken {@link PHRASES}: µ-law, 8 kHz.
 * @param agents - the bots that are called.
 */
export function planCall(seed: number, number: number, phrases: readonly Uint8Array[], agents: readonly string[]): FairPlan | RoughPlan {
  const random = seededNumbers(Math.imul(seed, 0x9e3779b1) + number);
  const pick = <T>(list: readonly [T, ...T[]] | readonly T[]): T => {
    const item = list[Math.floor(random() * list.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  };
  const chance = (part: number): boolean => random() < part;
  const between = (least: number, most: number): number => Math.floor(least + random() * (most - least));
  const agentId = pick(agents);
  const keys = (count: number): readonly Key[] => Array.from({ length: count }, () => pick(KEYS.slice(0, 12)));

  const barge = (part: number): { readonly interruptMs?: number } => (chance(part) ? { interruptMs: between(100, 3500) } : {});
  const say = (): Step => {
    const phrase = between(0, PHRASES.length);
    return { kind: 'say', label: `"${PHRASES[phrase] ?? ''}"`, mulaw: phrases[phrase] ?? new Uint8Array(0), ...barge(0.35) };
  };
  const press = (count: number): Step & { readonly kind: 'press' } => ({ kind: 'press', keys: keys(count), ...barge(0.4) });
  const wait = (): Step => ({ kind: 'wait', waitMs: between(500, 5000) });
  const step = (): Step => {
    switch (agentId) {
      case 'echo':
        return chance(0.7) ? say() : chance(0.6) ? wait() : press(1);
      case 'front-desk':
        return chance(0.6) ? press(1) : chance(0.6) ? say() : wait();
      case 'appointments':
        return chance(0.8) ? say() : chance(0.5) ? press(1) : wait();
      default:
        return chance(0.4)
          ? { ...press(0), keys: keysOf(pick(CODES)) ?? [] }
          : chance(0.5)
            ? press(between(1, 4))
            : chance(0.5)
              ? say()
              : wait();
    }
  };
  const fair = (): FairPlan => ({
    kind: 'fair',
    agentId: chance(0.05) ? '' : agentId,
    script: Array.from({ length: between(0, 6) }, step),
    habits: { terminatorIncluded: chance(0.2), singleDigitDirect: chance(0.3) },
    hangUpAtMs: chance(0.3) ? between(5, 20_000) : undefined,
    breakAtMs: chance(0.06) ? between(5, 15_000) : undefined,
    bearer: chance(0.2),
  });

  const action = (): RoughAction => {
    const kinds = [
      'start_again',
      'custom_event',
      'no_input',
      'keys',
      'speech',
      'speech',
      'open_and_cancel',
      'cancel_reply',
      'overlap',
    ] as const;
    const kind = pick(kinds);
    switch (kind) {
      case 'keys':
        return { kind, keys: keys(between(0, 6)), isAnnounced: chance(0.5) };
      case 'speech':
        return { kind, phrase: between(0, PHRASES.length), frames: between(1, 150), end: chance(0.5) ? 'cancel' : 'half_close' };
      case 'cancel_reply':
      case 'open_and_cancel':
        return { kind, afterMs: between(2, 120) };
      case 'overlap':
        return { kind, frames: between(1, 60) };
      default:
        return { kind };
    }
  };
  const rough = (): RoughPlan => ({
    kind: 'rough',
    agentId,
    actions: Array.from({ length: between(1, 7) }, action),
    end: pick(['hang_up', 'hang_up', 'cancel', 'vanish']),
  });
  return chance(0.2) ? rough() : fair();
}

/** A plan in one line, for a report. */
export function planText(plan: FairPlan | RoughPlan): string {
  if (plan.kind === 'rough') return `rough call to ${plan.agentId}: ${plan.actions.map(({ kind }) => kind).join(', ')}, ${plan.end}`;
  const steps = plan.script.map((step) => {
    const what = step.kind === 'say' ? `say ${step.label}` : step.kind === 'press' ? `press ${step.keys.join('')}` : step.kind;
    return step.interruptMs === undefined ? what : `${what} ${String(step.interruptMs)} ms into the prompt`;
  });
  const end = [
    ...(plan.hangUpAtMs === undefined ? [] : [`hangs up at ${String(plan.hangUpAtMs)} ms`]),
    ...(plan.breakAtMs === undefined ? [] : [`breaks at ${String(plan.breakAtMs)} ms`]),
  ];
  return `call to ${plan.agentId === '' ? 'the default bot' : plan.agentId}: ${[...steps, ...end].join(', ') || 'only listens'}`;
}
