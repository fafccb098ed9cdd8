// What one random call looks like, as plain data: settings, a script for the bot, and acts in order. Everything that could
// be left to chance stands in here, so that a program plays the same way every time and shrinks.
import fc from 'fast-check';

/** Things a caller does with the voice; each is one message of whole frames (see sounds.ts). */
export type Sound = 'speech' | 'word' | 'cough' | 'pause' | 'silence';
/** Inputs that are no audio. */
export type Event = 'session_start' | 'dtmf_start' | 'dtmf' | 'no_input' | 'custom_event' | 'session_end';

/** One thing that happens. `rpc` counts back from the newest open RPC, `pick` chooses among what waits. */
export type Act = {
  /** True: the next act comes in the same tick, before any promise goes on. */
  readonly together: boolean;
} & (
  | { readonly kind: 'open'; readonly first: Sound | Event; readonly halfClose: boolean }
  | { readonly kind: 'send'; readonly rpc: number; readonly input: Sound | Event }
  | { readonly kind: 'half_close' | 'cancel' | 'stop_reading' | 'read'; readonly rpc: number }
  /** One of the promises that the engine waits for goes on: a voice, a recognizer or a bot answers. */
  | { readonly kind: 'answer'; readonly pick: number }
  /** A recognizer fails. */
  | { readonly kind: 'break'; readonly pick: number }
  /** Everything that waits is answered until nothing waits. */
  | { readonly kind: 'settle' }
  | { readonly kind: 'wait'; readonly ms: number }
  /** A caller who does not wait: a key on an RPC of its own, again and again, for more than one and a half deadlines. */
  | { readonly kind: 'impatient'; readonly everyMs: number }
  /** The call goes on in another process, unless a turn keeps it here. */
  | { readonly kind: 'move' }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close'; readonly limitMs: number }
);

/** How the bot answers one event. */
export interface Behaviour {
  /** `never` ignores its signal, `obedient` waits for it and stops. */
  readonly pace: 'at_once' | 'later' | 'never' | 'obedient';
  /** Sayings a generator yields before it returns; 0: no generator. */
  readonly yields: number;
  /** Whether the generator makes a checkpoint before each of them. */
  readonly keeps: boolean;
  /** Prompts of the reply itself. */
  readonly prompts: number;
  readonly bargeIn: boolean;
  /** Length of each prompt, ms. */
  readonly promptMs: number;
  readonly deed: 'listen' | 'transfer' | 'end' | 'throw' | 'nonsense';
}

/** One random call. */
export interface Program {
  readonly mode: 'wav' | 'chunk';
  /** Which promises wait for an `answer`; the others answer at once. */
  readonly slow: { readonly voice: boolean; readonly recognizer: boolean };
  /** `mute`: the synthesizer fails, prompts travel as text; `streamed`: their sound comes in two pieces. */
  readonly voice: 'ready' | 'mute' | 'streamed';
  /** `no_words`: it finds nothing, so that speech over a prompt was a false interruption. */
  readonly recognizer: 'none' | 'words' | 'no_words';
  /** Whether a bot that takes its time lets the caller hear a filler. */
  readonly hasFiller: boolean;
  /** Whether the bot wants to be told of turns and barge-ins. */
  readonly hasNotes: boolean;
  readonly welcomeBargeIn: boolean;
  readonly maxDurationMs: number;
  readonly behaviours: readonly Behaviour[];
  /** The call begins as it should before the acts, or was begun by another process, or not at all. */
  readonly beginning: 'here' | 'elsewhere' | 'none';
  readonly acts: readonly Act[];
  /** How the call ends after the acts. */
  readonly leaving: 'hang_up' | 'silence' | 'shutdown';
}

const sound = fc.constantFrom<Sound>('speech', 'silence', 'speech', 'silence', 'pause', 'word', 'cough');
const event = fc.constantFrom<Event>('dtmf', 'dtmf_start', 'no_input', 'custom_event', 'session_start', 'session_end');
const rpc = fc.nat({ max: 3 });
const pick = fc.nat({ max: 5 });
const together = fc.integer({ min: 0, max: 9 }).map((tenth) => tenth === 9);
/** Around the bounds of the engine: a frame, the grace of an interrupted bot, a note's limit, deadlines, a sweep, idle. */
const waitMs = fc.constantFrom(20, 100, 300, 500, 1000, 3000, 10_000, 15_000, 60_000, 130_000, 660_000);

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('open' as const), first: fc.oneof(sound, event), halfClose: fc.boolean(), together }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('send' as const), rpc, input: sound, together }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), rpc, input: event, together }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('half_close' as const), rpc, together }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('cancel' as const, 'stop_reading' as const, 'read' as const), rpc, together }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('answer' as const), pick, together }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle' as const), together: fc.constant(false) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), together }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: waitMs, together: fc.constant(false) }) },
);
const rareAct: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('impatient' as const), everyMs: fc.constantFrom(1500, 3000, 8000), together: fc.constant(false) }),
  fc.record({ kind: fc.constant('break' as const), pick, together }),
  fc.record({ kind: fc.constant('drain' as const), together }),
  fc.record({ kind: fc.constant('close' as const), limitMs: fc.constantFrom(0, 1000, 20_000), together }),
);

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  pace: fc.constantFrom('at_once', 'later', 'at_once', 'later', 'obedient', 'never'),
  yields: fc.constantFrom(0, 0, 1, 2),
  keeps: fc.boolean(),
  prompts: fc.constantFrom(1, 0, 2),
  bargeIn: fc.constantFrom(true, true, false),
  promptMs: fc.constantFrom(1000, 5, 40, 9000),
  deed: fc.constantFrom('listen', 'listen', 'listen', 'listen', 'listen', 'transfer', 'end', 'throw', 'nonsense'),
});

/** Random calls. */
export const program: fc.Arbitrary<Program> = fc.record({
  mode: fc.constantFrom('chunk', 'chunk', 'wav'),
  slow: fc.record({ voice: fc.boolean(), recognizer: fc.boolean() }),
  voice: fc.constantFrom('ready', 'ready', 'ready', 'streamed', 'mute'),
  recognizer: fc.constantFrom('none', 'words', 'no_words'),
  hasFiller: fc.boolean(),
  hasNotes: fc.boolean(),
  welcomeBargeIn: fc.boolean(),
  maxDurationMs: fc.constantFrom(3_600_000, 3_600_000, 100_000),
  behaviours: fc.array(behaviour, { minLength: 1, maxLength: 6 }),
  beginning: fc.constantFrom('here', 'here', 'here', 'elsewhere', 'none'),
  acts: fc.array(fc.oneof({ weight: 40, arbitrary: act }, { weight: 1, arbitrary: rareAct }), { maxLength: 40, size: 'max' }),
  leaving: fc.constantFrom('hang_up', 'silence', 'shutdown'),
});
