// What single bad messages do: each has its status, its words and its line in the log, and leaves no turn and no session
// behind. Limits and time have files of their own.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_INPUT, type MediaRequest } from '../../src/contract/grpc.ts';
import { structFromJson } from '../../src/contract/struct.ts';
import { pcmWav } from '../../src/speech/wav.ts';
import { recorded } from '../support/line-signals.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import { SERVICES, statusName, type PlatformClient } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { event, format, frames, keys } from '../support/wire-audio.ts';

const FOREIGN_ORGANIZATION = '99999999-9999-4999-8999-999999999999';

/** Field 99 of the request, a string: from a version of the contract that does not exist yet. */
const LATER_FIELD = Buffer.of(0x9a, 0x06, 3, 0x61, 0x62, 0x63);

let server: RunningServer;
let client: PlatformClient;

beforeAll(async () => {
  server = await RunningServer.start({ flags: WITH_TEST_BOTS });
  client = await server.client();
});
afterAll(() => server.close());

/** Sessions that were open before a test, so that one failing test does not make the rest fail. */
let openBefore = 0;
beforeEach(() => {
  openBefore = server.app.openSessions();
});

/** A message of a call with some of its members replaced. */
type Bad = (call: PlatformCall) => MediaRequest | Uint8Array;

const start = (change: Partial<MediaRequest>): Bad => {
  return (call) => ({ ...call.message(event('SESSION_START')), ...change });
};
const audio = (change: NonNullable<MediaRequest['audio_input']>): Bad => {
  return (call) => call.message({ audio_input: { caller_audio: recorded('yes').subarray(0, 160), ...change } });
};

interface Outcome {
  readonly code: status;
  readonly details: string;
  /** Code of the line in the log. */
  readonly logged: string;
}

const invalid = (details: string, logged = 'bad_message'): Outcome => ({ code: status.INVALID_ARGUMENT, details, logged });
const UNSUPPORTED = 'caller audio has an encoding that this server does not know';
const LONG_ID = 'an id of the request is longer than 256 characters';
const CONTROL = 'an id of the request contains control characters';

const FIRST_MESSAGES: readonly (readonly [string, Bad, Outcome])[] = [
  ['bytes that are no message', () => Buffer.of(0xff, 0xff, 0xff), invalid('the message could not be decoded')],
  ['a message that breaks off', () => Buffer.of(0x20, 0x80), invalid('the message could not be decoded')],
  ['an empty message', () => Buffer.alloc(0), invalid('conversation_id is empty')],
  [
    'a message without input (G-18)',
    (call) => call.message({}),
    invalid('the message carries no input: one of audio_input, dtmf_input and event_input must be set'),
  ],
  ['an event without a type', start({ event_input: {} }), invalid('event_input names no event type')],
  ['an empty conversation id', start({ conversation_id: '' }), invalid('conversation_id is empty')],
  ['a conversation id of 10,000 characters', start({ conversation_id: 'c'.repeat(10_000) }), invalid(LONG_ID)],
  ['a conversation id with a null byte', start({ conversation_id: 'c\u0000d' }), invalid(CONTROL)],
  ['an agent id with a line break', start({ virtual_agent_id: 'tester\n' }), invalid(CONTROL)],
  ['an agent id of 10,000 characters', start({ virtual_agent_id: 'a'.repeat(10_000) }), invalid(LONG_ID)],
  [
    'a foreign organization (G-08)',
    start({ customer_org_id: FOREIGN_ORGANIZATION }),
    {
      code: status.PERMISSION_DENIED,
      details: 'the message names an organization that its token does not speak for',
      logged: 'foreign_organization',
    },
  ],
  [
    'an unknown agent',
    start({ virtual_agent_id: 'nobody' }),
    { code: status.NOT_FOUND, details: 'no bot has the requested agent id', logged: 'agent_unknown' },
  ],
  [
    'an agent id that is a word of the language',
    start({ virtual_agent_id: '__proto__' }),
    { code: status.NOT_FOUND, details: 'no bot has the requested agent id', logged: 'agent_unknown' },
  ],
  ['an unknown encoding', audio({ encoding: 9 }), invalid(UNSUPPORTED, 'unsupported_audio')],
  ['a negative encoding', audio({ encoding: -1 }), invalid(UNSUPPORTED, 'unsupported_audio')],
  ...[44_100, 11_025, 1, -8000].map((rate) => {
    const details = `caller audio at ${String(rate)} Hz cannot be decoded; 8000 and 16000 Hz can`;
    return [`audio at ${String(rate)} Hz`, audio({ sample_rate_hertz: rate }), invalid(details, 'unsupported_audio')] as const;
  }),
  [
    'configuration text of 20,000 characters',
    start({ vendor_specific_config: 'v'.repeat(20_000) }),
    invalid('vendor_specific_config is longer than 16384 characters'),
  ],
  [
    'parameters that nest 40 levels deep',
    start({ event_input: { event_type: EVENT_INPUT.SESSION_START, parameters: nested(40) } }),
    invalid('free data nests deeper than 32 levels'),
  ],
  ['10,000 keys at once', (call) => call.message(keys(...Array<'5'>(10_000).fill('5'))), invalid('the message carries more than 256 keys')],
];

describe('a bad first message', () => {
  it.each(FIRST_MESSAGES)('%s has its own outcome', async (_name, bad, { code, details, logged }) => {
    const call = client.call();
    const before = server.logged({ code: logged }).length;
    const turn = client.open().send(bad(call));
    const ending = await turn.ended();
    expect([statusName(ending.code), ending.details]).toEqual([statusName(code), details]);
    expect(turn.responses).toEqual([]);
    expect(server.logged({ code: logged })).toHaveLength(before + 1);
    await server.quiet(openBefore);
  });
});

describe('a bad later message', () => {
  const LATER_MESSAGES: readonly (readonly [string, Bad, Outcome])[] = [
    ['bytes that are no message', () => Buffer.of(0xff, 0xff, 0xff), invalid('the message could not be decoded')],
    ['a message without input', (call) => call.message({}), FIRST_MESSAGES[3]?.[2] ?? invalid('')],
    [
      'another conversation: two calls interleaved on one stream',
      start({ conversation_id: 'another' }),
      invalid('conversation_id and customer_org_id must stay the same on one stream'),
    ],
    [
      'a foreign organization (G-08)',
      start({ customer_org_id: FOREIGN_ORGANIZATION }),
      {
        code: status.PERMISSION_DENIED,
        details: 'the message names an organization that its token does not speak for',
        logged: 'foreign_organization',
      },
    ],
    ['another agent', start({ virtual_agent_id: 'other' }), invalid('virtual_agent_id must stay the same on one stream', 'agent_conflict')],
    ['an unknown encoding', audio({ encoding: 9 }), invalid(UNSUPPORTED, 'unsupported_audio')],
    [
      'a WAV at a rate that cannot be decoded',
      (call) => call.message({ audio_input: { caller_audio: pcmWav([new Int16Array(441)], 44_100) } }),
      invalid('caller audio at 44100 Hz cannot be decoded', 'unsupported_audio'),
    ],
  ];

  it.each(LATER_MESSAGES)('%s ends the turn and not the call', async (_name, bad, { code, details, logged }) => {
    const call = client.call({ agentId: 'tester' });
    await call.turn(event('SESSION_START'));
    const before = server.logged({ code: logged }).length;
    const turn = call.open(format()).send(bad(call));
    const ending = await turn.ended();
    expect([statusName(ending.code), ending.details]).toEqual([statusName(code), details]);
    expect(turn.responses).toEqual([]);
    expect(server.logged({ code: logged })).toHaveLength(before + 1);
    expect((await call.turn(keys('5'))).ending.code).toBe(status.OK);
    await call.turn(event('SESSION_END'));
    await server.quiet(openBefore);
  });

  it('G-17 another agent for a conversation that already talks to one is INVALID_ARGUMENT', async () => {
    const call = client.call({ agentId: 'tester' });
    await call.turn(event('SESSION_START'));
    const other = await client.call({ ...call.ids, agentId: 'nobody' }).turn(keys('1'));
    expect(other.ending).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: 'the conversation already talks to another agent',
    });
    expect((await client.call({ ...call.ids, agentId: '' }).turn(event('SESSION_END'))).ending.code).toBe(status.OK);
    await server.quiet(openBefore);
  });

  it('a second input on one stream is noted and the first one is answered (G-14)', async () => {
    const call = client.call();
    const turn = call.open(event('SESSION_START'), keys('1'), event('SESSION_START')).halfClose();
    expect(await turn.ended()).toMatchObject({ code: status.OK });
    expect(turn.story).toEqual(['CHUNK audio', 'FINAL empty']);
    await call.turn(event('SESSION_END'));
    await server.quiet(openBefore);
  });

  it('a message after the end of the RPC is dropped', async () => {
    const call = client.call();
    const turn = call.open(event('SESSION_START'));
    await turn.ended();
    turn.send(call.message(keys('1')), Buffer.of(0xff)).halfClose();
    expect((await call.turn(event('SESSION_END'))).story).toEqual(['FINAL']);
    expect(turn.story).toEqual(['CHUNK audio', 'FINAL empty']);
    await server.quiet(openBefore);
  });
});

describe('what is unknown and legal', () => {
  it('G-01 any other method is UNIMPLEMENTED', async () => {
    for (const path of [`/${SERVICES.media}/Other`, '/a.B/C', '/']) {
      const answer = client.unary(
        path,
        () => Buffer.alloc(0),
        () => null,
        null,
      );
      await expect(answer).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
    }
  });

  it('G-90 an event, a key and fields of a later contract do no harm', async () => {
    const call = client.call();
    const withLater = Buffer.concat([client.encode(call.message(event('SESSION_START'))), LATER_FIELD]);
    const welcome = client.open().send(withLater).halfClose();
    expect(await welcome.ended()).toMatchObject({ code: status.OK });
    expect(welcome.story).toEqual(['CHUNK audio', 'FINAL empty']);

    const unknownEvent = await call.turn({ event_input: { event_type: 77 } });
    expect({ code: unknownEvent.ending.code, story: unknownEvent.story }).toEqual({ code: status.OK, story: [] });
    // Key 1, a key of a later contract, and one that is unspecified.
    const digits = await call.turn({ dtmf_input: { dtmf_events: [1, 99, 0] } });
    expect(digits.story).toEqual(['CHUNK audio', 'CHUNK audio', 'FINAL empty']);
    await call.turn(event('SESSION_END'));
    await server.quiet(openBefore);
  });

  it('a stream that ends without a message completes without a word', async () => {
    const turn = client.open().halfClose();
    expect(await turn.ended()).toMatchObject({ code: status.OK });
    expect(turn.story).toEqual([]);
    await server.quiet(openBefore);
  });

  it('an unknown conversation whose first message is audio is a call that starts over', async () => {
    const call = client.call();
    const turn = await call.turn(format(), ...frames(recorded('yes')));
    expect(turn.ending.code).toBe(status.OK);
    expect(turn.story.slice(-2)).toEqual(['CHUNK audio', 'FINAL empty']);
    await call.turn(event('SESSION_END'));
    await server.quiet(openBefore);
  });
});

function nested(levels: number): ReturnType<typeof structFromJson> {
  let innermost = structFromJson({});
  for (let level = 1; level < levels; level += 1) innermost = { fields: { a: { structValue: innermost } } };
  return innermost;
}
