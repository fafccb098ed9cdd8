// The calls that are played on every transport, and what must come of each: which events its bot gets, what its caller hears, and
// what the platform gets of the caller's speech.
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import type { PlacedCall, TransportUnderTest } from '../support/transports/placed-call.ts';

/** Longest time a bot may take, ms: the operator's default. */
const DEADLINE_MS = loadSettings({ argv: ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1'], env: {} }).settings.turns
  .deadlineMs;
/** Longer than any prompt of the scenarios that wait for its end, ms. */
const PLAYED_MS = 5000;

/** A caller who says something after a moment of silence, and is silent again. */
const spoken = (name: 'sentence' | 'number' | 'yes'): Uint8Array => joined(silence(600), recorded(name), silence(1500));

/** A call while it is played. */
export interface Stage {
  readonly call: PlacedCall;
  readonly transport: TransportUnderTest;
  /** Waits until so many replies are over. */
  readonly replied: (count: number) => Promise<void>;
  /** Waits until something of this reply is heard. */
  readonly heard: (count: number) => Promise<void>;
  /** Waits until the bot has got an event that begins so. */
  readonly notified: (event: string) => Promise<void>;
}

/** What comes of a call, in words. */
export interface Story {
  /** The events that its bot gets. */
  readonly events: readonly string[];
  /** Each reply: the sounds by name, with a mark at those that cannot be cut, and what comes next. */
  readonly replies: readonly string[];
  /** What the platform gets of the caller's speech. */
  readonly speech: readonly string[];
}

/** A call, and what must come of it on every transport. */
export interface Scenario extends Story {
  readonly name: string;
  readonly play: (stage: Stage) => Promise<void>;
  /** Digits that must stand in no log. */
  readonly secret?: string;
}

/** The welcome, and what every call begins with. */
const WELCOME = 'sentence: listen both 4 3000 #';
const STARTED = 'session_start  {} ';
/** Time stands still, so that whatever a caller does comes into the reply before it. */
const SO_FAR = 'after part, 0 ms';

/** All of them. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a welcome, with what the flow sends along, and the caller hangs up',
    play: async ({ call, replied }) => {
      call.start('order', { id: 7, list: ['a', { b: null }] });
      await replied(1);
      call.hangUp();
    },
    events: ['session_start order {"id":7,"list":["a",{"b":null}]} ', 'session_end caller'],
    replies: [WELCOME],
    speech: [],
  },
  {
    name: 'keys, one after the other and as from a menu of one key',
    play: async ({ call, replied }) => {
      await begun(call, replied);
      call.press('1');
      await replied(2);
      call.pressAtOnce('5');
      await replied(3);
      call.press('0123456789*#ABCD');
      await replied(4);
      call.press('');
      await replied(5);
      call.hangUp();
    },
    events: [
      STARTED,
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 1 keys ${SO_FAR}`],
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 5 keys ${SO_FAR}`],
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 0123456789*#ABCD keys ${SO_FAR}`],
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input  keys ${SO_FAR}`],
      'session_end caller',
    ],
    replies: [
      WELCOME,
      'yes number!: listen keys 1 3000 *',
      'long: listen both 1 3000 #',
      'yes: listen both 1 3000 #',
      'yes: listen both 1 3000 #',
    ],
    speech: [],
  },
  {
    name: 'speech, twice, which the bot says back',
    play: async ({ call, replied }) => {
      await begun(call, replied);
      await call.speak(spoken('sentence'));
      await replied(2);
      await call.speak(spoken('number'));
      await replied(3);
      call.hangUp();
    },
    events: [
      STARTED,
      ...[`barge_in speech ${SO_FAR}`, `speech_input 3380 ms … ${SO_FAR}`],
      ...[`barge_in speech ${SO_FAR}`, `speech_input 4300 ms … ${SO_FAR}`],
      'session_end caller',
    ],
    replies: [WELCOME, 'something: listen both 1 3000 #', 'something: listen both 1 3000 #'],
    speech: ['started', 'ended', 'started', 'ended'],
  },
  {
    name: 'speech after all of the reply was heard',
    play: async ({ call, transport, replied }) => {
      await begun(call, replied);
      await transport.advance(PLAYED_MS);
      await call.speak(spoken('sentence'));
      await replied(2);
      await transport.advance(PLAYED_MS);
      call.press('6');
      await replied(3);
      call.hangUp();
    },
    events: [STARTED, 'speech_input 3380 ms … after all, 3350 ms', 'dtmf_input 6 keys after all, 3380 ms', 'session_end caller'],
    replies: [WELCOME, 'something: listen both 1 3000 #', 'yes: listen both 1 3000 #'],
    speech: ['started', 'ended'],
  },
  {
    name: 'a reply that is cut by the voice of the caller',
    play: async ({ call, replied, heard }) => {
      await begun(call, replied);
      call.press('7');
      await heard(2);
      await call.speak(spoken('sentence'));
      await replied(3);
      call.hangUp();
    },
    events: [
      STARTED,
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 7 keys ${SO_FAR}`],
      ...[`barge_in speech ${SO_FAR}`, `speech_input 3380 ms … ${SO_FAR}`],
      'session_end caller',
    ],
    replies: [WELCOME, 'number: listen both 1 3000 #', 'something: listen both 1 3000 #'],
    speech: ['started', 'ended'],
  },
  {
    name: 'a reply that is cut by a key',
    play: async ({ call, replied, heard }) => {
      await begun(call, replied);
      call.press('7');
      await heard(2);
      call.press('6');
      await replied(3);
      call.hangUp();
    },
    events: [
      STARTED,
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 7 keys ${SO_FAR}`],
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 6 keys ${SO_FAR}`],
      'session_end caller',
    ],
    replies: [WELCOME, 'number: listen both 1 3000 #', 'yes: listen both 1 3000 #'],
    speech: [],
  },
  {
    name: 'silence, until the bot gives up',
    play: async ({ call, transport, replied }) => {
      await begun(call, replied);
      for (const count of [1, 2, 3]) {
        await transport.advance(PLAYED_MS);
        call.nothing();
        await replied(1 + count);
      }
    },
    events: [
      STARTED,
      ...['no_input 1 after all, 3350 ms', 'no_input 2 after all, 4160 ms', 'no_input 3 after all, 4160 ms'],
      'session_end bot_transfer',
    ],
    replies: [
      WELCOME,
      ...['number: listen both 1 3000 #', 'number: listen both 1 3000 #'],
      'yes!: transfer transfer_requested {"reason":"silence"} -',
    ],
    speech: [],
  },
  {
    name: 'an event of the flow, answered with one for the flow',
    play: async ({ call, replied }) => {
      await begun(call, replied);
      call.flowEvent('agent_free', { queue: 'sales', place: 3 });
      await replied(2);
      call.hangUp();
    },
    events: [STARTED, `custom_event agent_free {"queue":"sales","place":3} ${SO_FAR}`, 'session_end caller'],
    replies: [WELCOME, 'yes: listen both 1 3000 # noted {"was":"agent_free"}'],
    speech: [],
  },
  {
    name: 'a caller who hangs up while the bot thinks',
    play: async ({ call, replied, heard }) => {
      await begun(call, replied);
      call.press('7');
      await heard(2);
      call.hangUp();
    },
    events: [STARTED, `barge_in keys ${SO_FAR}`, `dtmf_input 7 keys ${SO_FAR}`, 'session_end caller'],
    replies: [WELCOME, 'number: …'],
    speech: [],
  },
  {
    name: 'a transfer to a person',
    play: async ({ call, replied }) => {
      await begun(call, replied);
      call.press('3');
      await replied(2);
    },
    events: [STARTED, `barge_in keys ${SO_FAR}`, `dtmf_input 3 keys ${SO_FAR}`, 'session_end bot_transfer'],
    replies: [
      WELCOME,
      'yes!: transfer transfer_requested {"reason":"asked","summary":"Wants a person.","routing_hint":"sales","fields":{"tries":2}} Wants a person.',
    ],
    speech: [],
  },
  {
    name: 'an end by the bot',
    play: async ({ call, replied }) => {
      await begun(call, replied);
      call.press('2');
      await replied(2);
    },
    events: [STARTED, `barge_in keys ${SO_FAR}`, `dtmf_input 2 keys ${SO_FAR}`, 'session_end bot_end'],
    replies: [WELCOME, 'yes!: end session_ended {"outcome":"done"} Two was pressed.'],
    speech: [],
  },
  {
    name: 'a bot that throws, once and once more',
    play: async ({ call, replied }) => {
      await begun(call, replied);
      call.press('8');
      await replied(2);
      call.press('8');
      await replied(3);
    },
    events: [
      STARTED,
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 8 keys ${SO_FAR}`],
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 8 keys ${SO_FAR}`],
      'session_end failed',
    ],
    replies: [WELCOME, 'something: listen both 4 3000 #', 'something!: transfer transfer_requested {"reason":"failed"} -'],
    speech: [],
  },
  {
    name: 'a bot that takes too long',
    play: async ({ call, transport, replied, notified }) => {
      await begun(call, replied);
      call.press('9');
      await notified('dtmf_input 9');
      await transport.advance(DEADLINE_MS);
      await replied(2);
      call.press('6');
      await replied(3);
      call.hangUp();
    },
    events: [
      STARTED,
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 9 keys ${SO_FAR}`],
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 6 keys ${SO_FAR}`],
      'session_end caller',
    ],
    replies: [WELCOME, 'something: listen both 4 3000 #', 'yes: listen both 1 3000 #'],
    speech: [],
  },
  {
    name: 'digits that are sensitive',
    play: async ({ call, replied }) => {
      await begun(call, replied);
      call.press('4');
      await replied(2);
      call.press('4917305682');
      await replied(3);
      call.hangUp();
    },
    secret: '4917305682',
    events: [
      STARTED,
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 4 keys ${SO_FAR}`],
      ...[`barge_in keys ${SO_FAR}`, `dtmf_input 4917305682 keys ${SO_FAR}`],
      'session_end caller',
    ],
    replies: [WELCOME, 'yes: listen both 10 3000 # sensitive', 'yes: listen both 1 3000 #'],
    speech: [],
  },
];

/** Starts a call and waits for its welcome. */
async function begun(call: PlacedCall, replied: Stage['replied']): Promise<void> {
  call.start('', {});
  await replied(1);
}
