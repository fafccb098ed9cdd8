// What bad messages on a socket do, over real connections with the token check on: each has the answer of its rule and the
// close that belongs to it (W-43, W-44, W-46), nothing follows it, nothing is left behind, and other calls go on.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recorded } from '../support/line-signals.ts';
import { dataSource, RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { eventInput, keyInput, SocketClient, soundInput, type SocketInput } from '../support/socket-client.ts';
import { socketDataSource, WITH_SOCKETS } from '../support/socket-peer.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';

const FOREIGN_ORGANIZATION = '99999999-9999-4999-8999-999999999999';
/** Stands in bad messages, and must stand nowhere else. */
const CANARY = 'heliotrope';
const FRAME = recorded('yes').subarray(0, 160);

/** The ERROR as `code status`, and the close behind it. */
type Answer = readonly [error: string, close: number];
const BAD: Answer = ['bad_request 400', 1002];
const FOREIGN: Answer = ['unauthorized 401', 1008];
const UNSUPPORTED: Answer = ['unsupported_media 415', 1003];

const start = eventInput('SESSION_START');
const text =
  (message: string) =>
  ({ peer }: SocketClient): void => {
    peer.say(message);
  };
const sent =
  (input: SocketInput, envelope: object = {}, payload: object = {}) =>
  (client: SocketClient): void => {
    client.lie(input, { envelope: { ...envelope }, payload: { ...payload } });
  };
const sound = (more: object): SocketInput => ({ audio_input: { ...(soundInput(FRAME)['audio_input'] as object), ...more } });

let server: RunningServer;
/** Its call goes on whatever happens on other sockets. */
let bystander: SocketClient;

beforeAll(async () => {
  server = await RunningServer.start({
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    flags: [...WITH_SOCKETS, ...WITH_TEST_BOTS, '--websocket.peer_close_ms=1000'],
  });
  bystander = await (await SocketClient.connect(server)).started();
});
afterEach(async () => {
  let left: readonly (number | undefined)[] = [];
  await until(
    () => `nothing is left of a bad socket but ${left.join(' ')} sockets, sessions, turns`,
    async () => {
      left = [await server.metric('parley_sockets_open'), server.app.openSessions(), server.app.openTurns()];
      return left.join() === '1,1,1';
    },
    30_000,
  );
  const before = bystander.finals.length;
  bystander.send(keyInput('DTMF_DIGIT_SIX'));
  await bystander.replied(before + 1);
  expect(JSON.stringify(server.log)).not.toContain(CANARY);
});
afterAll(async () => {
  bystander.send(eventInput('SESSION_END'));
  await bystander.close();
  await server.quiet();
  await server.close();
});

/** Whatever was said to a socket that ended badly: the error comes last. */
async function expectEnd(client: SocketClient, [error, close]: Answer): Promise<void> {
  expect(await client.closed()).toEqual({ code: close, reason: error.split(' ')[0] });
  expect(client.errors).toEqual([error]);
  expect(client.messages.at(-1)?.type).toBe('ERROR');
  expect(JSON.stringify(client.messages)).not.toContain(CANARY);
}

describe('the first message of a socket', () => {
  it.each<readonly [string, (client: SocketClient) => void, Answer]>([
    ['W-20 caller audio instead of SESSION_START', sent(soundInput(FRAME)), BAD],
    ['W-20 keys instead of SESSION_START', sent(keyInput('DTMF_DIGIT_ONE')), BAD],
    ['W-20 NO_INPUT instead of SESSION_START', sent(eventInput('NO_INPUT')), BAD],
    ['W-20 SESSION_END instead of SESSION_START', sent(eventInput('SESSION_END')), BAD],
    ['W-20 an event that nobody knows yet', sent(eventInput(CANARY)), BAD],
    ['W-22 a foreign organization', sent(start, {}, { customer_org_id: FOREIGN_ORGANIZATION }), FOREIGN],
    ['W-22 no organization', sent(start, {}, { customer_org_id: undefined }), BAD],
    ['W-13 two conversations', sent(start, {}, { conversation_id: CANARY }), BAD],
    ['an empty conversation', sent(start, { conversation_id: '' }, { conversation_id: '' }), BAD],
    ['a conversation of 10,000 characters', sent(start, { conversation_id: 'c'.repeat(10_000) }), BAD],
    ['a conversation with control characters', sent(start, { conversation_id: 'c\n' }, { conversation_id: 'c\n' }), BAD],
    ['an agent that nobody is (W-43)', sent(start, {}, { virtual_agent_id: CANARY }), ['bad_request 404', 1008]],
    [
      'W-0A a binary frame',
      ({ peer }) => {
        peer.socket.send(Buffer.from('{}'));
      },
      UNSUPPORTED,
    ],
    ['no JSON', text(`{"type": "${CANARY}`), BAD],
    ['no text at all', text(''), BAD],
    ['JSON that is no object', text(`["${CANARY}"]`), BAD],
    ['JSON that nests 50,000 times', text('['.repeat(50_000) + ']'.repeat(50_000)), BAD],
    ['no type', sent(start, { type: undefined }), BAD],
    ['W-10 a number below 1', sent(start, { seq: 0 }), BAD],
    ['W-10 a number that is none', sent(start, { seq: CANARY }), BAD],
    ['W-10 a number that is not whole', sent(start, { seq: 1.5 }), BAD],
    ['no time', sent(start, { ts: undefined }), BAD],
    ['no payload', sent(start, { payload: undefined }), BAD],
    ['no input', sent({}), BAD],
    ['two inputs at once', sent({ ...start, ...keyInput('DTMF_DIGIT_ONE') }), BAD],
    ['parameters of 17 KiB', sent(eventInput('SESSION_START', { parameters: { secret: CANARY.repeat(1750) } })), BAD],
  ])('%s is refused', async (_what, say, answer) => {
    const client = await SocketClient.connect(server);
    say(client);
    await expectEnd(client, answer);
    // W-22: whoever has no call is told nothing of one.
    expect(client.messages).toHaveLength(1);
  });

  it('G-28 W-21 on a second socket a conversation begins anew, and the first one is refused what it still says', async () => {
    const first = await (await SocketClient.connect(server)).started();
    const second = await (await SocketClient.connect(server, first.conversationId)).started();
    first.send(keyInput('DTMF_DIGIT_SIX'));
    await expectEnd(first, ['bad_request 409', 1008]);
    const before = second.finals.length;
    second.send(keyInput('DTMF_DIGIT_SIX'));
    await second.replied(before + 1);
    second.send(eventInput('SESSION_END'));
    expect(await second.close()).toMatchObject({ code: 1000 });
  });

  it('G-28 W-2A a conversation whose socket was dropped begins anew on another one', async () => {
    const first = await (await SocketClient.connect(server)).started();
    first.peer.socket.terminate();
    await until('the call is over', () => server.app.openSessions() === 1);
    const second = await (await SocketClient.connect(server, first.conversationId)).started();
    second.send(eventInput('SESSION_END'));
    expect(await second.close()).toMatchObject({ code: 1000 });
  });

  it('W-40 may be a PING, which is answered and begins no call', async () => {
    const client = await SocketClient.connect(server);
    await client.ping();
    await client.started();
    client.send(eventInput('SESSION_END'));
    expect(await client.close()).toMatchObject({ code: 1000 });
  });

  it('W-20 W-46 that does not come within ten seconds is not waited for any longer', async () => {
    const clock = new FakeClock();
    const late = await RunningServer.start({
      dataSources: (issuer) => [socketDataSource(issuer)],
      flags: [...WITH_SOCKETS, ...WITH_TEST_BOTS],
      clock,
    });
    const client = await SocketClient.connect(late);
    // A PING is no start of a call.
    await client.ping();
    clock.advance(9999);
    await client.ping();
    clock.advance(1);
    expect(await client.closed()).toEqual({ code: 1008, reason: 'timeout' });
    expect(client.errors).toEqual(['timeout 408']);
    await late.quiet();
    await until('the socket is gone', async () => (await late.metric('parley_sockets_open')) === 0);
    await late.close();
  });
});

describe('a later message of a socket', () => {
  it.each<readonly [string, (client: SocketClient) => void, Answer]>([
    ['W-21 a second SESSION_START', sent(start), BAD],
    ['W-21 another conversation', sent(keyInput('DTMF_DIGIT_ONE'), { conversation_id: CANARY }, { conversation_id: CANARY }), BAD],
    ['W-21 another agent', sent(keyInput('DTMF_DIGIT_ONE'), {}, { virtual_agent_id: CANARY }), BAD],
    ['W-21 W-22 another organization', sent(keyInput('DTMF_DIGIT_ONE'), {}, { customer_org_id: FOREIGN_ORGANIZATION }), FOREIGN],
    ['W-13 a payload of another conversation', sent(keyInput('DTMF_DIGIT_ONE'), {}, { conversation_id: CANARY }), BAD],
    ['W-13 an envelope of another conversation', sent(keyInput('DTMF_DIGIT_ONE'), { conversation_id: CANARY }), BAD],
    ['W-10 a number that was there before', sent(keyInput('DTMF_DIGIT_ONE'), { seq: 1 }), BAD],
    [
      'W-10 a number that falls',
      (client) => {
        client.lie(soundInput(FRAME), { envelope: { seq: 50 } }).lie(soundInput(FRAME), { envelope: { seq: 49 } });
      },
      BAD,
    ],
    [
      'W-10 a PING with a number that was there before',
      (client) => {
        client.lie(start, { envelope: { type: 'PING', seq: 1, payload: undefined } });
      },
      BAD,
    ],
    [
      'W-0A a binary frame',
      ({ peer }) => {
        peer.socket.send(FRAME);
      },
      UNSUPPORTED,
    ],
    ['no JSON', text(`${CANARY}}`), BAD],
    ['sound that is no Base64', sent(sound({ caller_audio_b64: `${CANARY}!` })), BAD],
    ['sound in another alphabet of Base64', sent(sound({ caller_audio_b64: '_-_-' })), BAD],
    ['sound that breaks off', sent(sound({ caller_audio_b64: 'AAAAA' })), BAD],
    ['W-34 sound of more than 65,536 bytes', sent(sound({ caller_audio_b64: Buffer.alloc(65_537).toString('base64') })), BAD],
    ['W-43 sound in an encoding that nobody knows', sent(sound({ encoding: CANARY })), UNSUPPORTED],
    ['W-43 sound at a rate that nobody can decode', sent(sound({ sample_rate_hertz: 44_100 })), UNSUPPORTED],
    ['two inputs at once', sent({ ...soundInput(FRAME), ...keyInput('DTMF_DIGIT_ONE') }), BAD],
    ['W-17 a known type that is malformed', sent(start, { type: 'ERROR' }), BAD],
  ])('%s is refused, and the call is over', async (_what, say, answer) => {
    const client = await (await SocketClient.connect(server)).started();
    say(client);
    await expectEnd(client, answer);
  });

  it('W-10 W-11 G-90 may leave numbers out, and may be an event or have fields that nobody knows yet', async () => {
    const client = await (await SocketClient.connect(server)).started();
    client.lie(eventInput('LATER'), { envelope: { seq: 1000, later: true }, payload: { later: [1] } });
    client.lie(keyInput('DTMF_DIGIT_SIX', 'DTMF_DIGIT_LATER'), { envelope: { seq: 1002 } });
    await client.replied(2);
    client.lie(eventInput('SESSION_END'), { envelope: { seq: 1003 } });
    expect(await client.close()).toMatchObject({ code: 1000 });
    expect(client.errors).toEqual([]);
    // The server's own numbers have nothing to do with them.
    expect(client.messages.map(({ seq }) => seq)).toEqual(client.messages.map((_, index) => index + 1));
  });

  it('W-28 after the caller has hung up has no effect and no answer, and the platform closes', async () => {
    const client = await (await SocketClient.connect(server)).started();
    const said = client.messages.length;
    client.send(eventInput('SESSION_END'), keyInput('DTMF_DIGIT_ONE'), soundInput(FRAME), start);
    await client.ping();
    expect(await client.close()).toEqual({ code: 1000, reason: '' });
    expect(client.messages.slice(said).map(({ type }) => type)).toEqual(['PONG']);
  });

  it('W-29 after the bot has ended the call has no effect, and a platform that does not close is closed with 1000', async () => {
    const client = await (await SocketClient.connect(server)).started();
    client.send(keyInput('DTMF_DIGIT_TWO'));
    await client.replied(2);
    const said = client.messages.length;
    client.send(keyInput('DTMF_DIGIT_ONE'), start);
    client.peer.say(CANARY);
    expect(await client.closed()).toEqual({ code: 1000, reason: '' });
    expect(client.messages.slice(said)).toEqual([]);
  });

  it('W-2A a socket that drops in the middle of speech takes its call with it', async () => {
    const client = await (await SocketClient.connect(server)).started();
    const speech = recorded('sentence');
    for (let from = 0; from < 16_000; from += 160) client.send(soundInput(speech.subarray(from, from + 160)));
    await client.ping();
    expect(client.messages.some((message) => JSON.stringify(message).includes('START_OF_INPUT'))).toBe(true);
    client.peer.socket.terminate();
    await client.closed();
  });
});
