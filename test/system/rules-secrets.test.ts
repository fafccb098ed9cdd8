// G-68 and G-83: what a caller types or says when it is sensitive stands nowhere afterwards. A number that nothing else
// produces is put in at one end and looked for at every other.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, play } from '../../src/bot/index.ts';
import { dtmfNameOf } from '../../src/contract/numbers.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { jsonFromStruct } from '../../src/contract/struct.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { testCertificate, type TestCertificate } from '../support/certificate.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { ordered, started, WITH_PUPPET, type Orders } from '../support/puppet.ts';
import { dataSource, RunningServer, serverFlags } from '../support/running-server.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { eventInput, keyInput, SocketClient, type Lies } from '../support/socket-client.ts';
import { socketDataSource, WITH_SOCKETS } from '../support/socket-peer.ts';
import { event, format, frames, keys, quiet } from '../support/wire-audio.ts';

const CANARY = ['4', '9', '1', '7', '3', '0', '5', '6', '8', '2'] as const;
/** The number as digits, as a list, spoken with pauses, and as the numbers of its keys on the wire. */
const TRACES = [CANARY.join(''), CANARY.join(' '), CANARY.join(','), CANARY.map((digit) => (digit === '0' ? 10 : Number(digit))).join(',')];
/** Its keys as a socket carries them, where a name stands for each. */
const CANARY_KEYS = CANARY.map((digit) => dtmfNameOf(digit));
/** What the recognizer hears in the sensitive utterance. */
const CANARY_WORDS = 'heliotrope marzipan';

/** A call in which the next input is sensitive, and the canary. */
async function pressCanary(call: PlatformCall, later?: Orders['later']): Promise<Awaited<ReturnType<PlatformCall['turn']>>> {
  const sensitive = listen({ sensitive: true, digits: CANARY.length });
  await call.turn(started({ reply: sensitive, ...(later === undefined ? {} : { later }) }));
  return call.turn(keys(...CANARY));
}

function expectNoTrace(place: string, text: string): void {
  for (const trace of [...TRACES, CANARY_KEYS.slice(0, 2).join('","'), ...CANARY_WORDS.split(' ')])
    expect(text.includes(trace), `"${trace}" in ${place}`).toBe(false);
}

describe('a sensitive input', () => {
  let server: RunningServer;
  let client: PlatformClient;
  beforeAll(async () => {
    const recognizer = JSON.stringify(['sh', '-c', `cat > /dev/null; echo ${CANARY_WORDS}`]);
    server = await RunningServer.start({
      dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
      flags: [
        ...WITH_PUPPET,
        ...WITH_SOCKETS,
        '--log.level=trace',
        '--media.transcript=true',
        '--turns.max_farewell_ms=0',
        `--recognizer.command=${recognizer}`,
      ],
    });
    client = await server.client();
  });
  afterAll(async () => {
    await server.quiet();
    await server.close();
  });

  const operations = async (path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${String(server.app.ready.opsPort)}${path}`)).text();

  /** Everything that an operator can read of a call. */
  async function expectNoTraceOf(conversationId: string): Promise<void> {
    expectNoTrace('the log', JSON.stringify(server.log));
    expectNoTrace('the metrics', await operations('/metrics'));
    expectNoTrace('the latest calls', await operations('/calls'));
    const timeline = await operations(`/calls/${conversationId}`);
    expect(timeline).toContain(conversationId);
    expectNoTrace('the timeline of the call', timeline);
  }

  it('G-83 is the next one only: the answer to it asks for no other', async () => {
    const call = client.call();
    const start = await call.turn(started({ reply: listen({ sensitive: true }), later: play('yes.wav').listen() }));
    const answers = [start, await call.turn(keys('1')), await call.turn(keys('2'))];
    expect(answers.map(({ responses }) => responses.at(-1)?.input_sensitive)).toEqual([true, false, false]);
    await call.turn(event('SESSION_END'));
  });

  it.each([
    ['is said back by its bot', undefined],
    ['makes its bot throw', 'throw'],
    ['is answered by a recording', play('yes.wav').listen()],
    ['is followed by a transfer', play('yes.wav').transfer({ reason: 'asked' })],
    [
      'is answered by a recording that is missing',
      play(`numbers/${CANARY.join('')}.wav`)
        .say('Thank you.')
        .listen(),
    ],
  ] as const)('G-68 G-83 leaves no digit in log, metrics or responses when it %s', async (_how, later) => {
    const call = client.call();
    const turn = await pressCanary(call, later);
    expect(turn.ending.code).toBe(status.OK);
    expect(turn.story.length).toBeGreaterThan(0);
    await call.turn(event('SESSION_END'));
    await expectNoTraceOf(call.ids.conversationId);
    expectNoTrace('the responses', JSON.stringify([turn.responses, turn.ending.metadata.getMap()]));
  });

  it('G-83 leaves no word in log, metrics or responses when it is spoken', async () => {
    const call = client.call();
    await call.turn(started({ reply: listen({ sensitive: true }), later: play('yes.wav').listen() }));
    const turn = await call.turn(format(), ...quiet(200), ...frames(joined(recorded('number'), silence(2500))));
    expect(turn.story).toEqual(['FINAL START_OF_INPUT', 'CHUNK END_OF_INPUT', 'CHUNK audio', 'FINAL empty']);
    await call.turn(event('SESSION_END'));
    await expectNoTraceOf(call.ids.conversationId);
    expectNoTrace('the responses', JSON.stringify(turn.responses));
  });

  it('G-83 G-7B stands as withheld in the transcript, which is on the last response and on no other', async () => {
    const call = client.call();
    const pressed = await pressCanary(call);
    await call.turn(format(), ...quiet(200), ...frames(joined(recorded('number'), silence(2500))));
    const last = await call.turn(ordered({ reply: play('yes.wav').end('done') }));
    const transcript = last.responses.at(-1)?.session_transcript?.text ?? '';
    expect(transcript).toContain('caller: [withheld]');
    expectNoTrace('the transcript', transcript.replace(CANARY_WORDS, ''));
    expect([...pressed.responses, ...last.responses].filter(({ session_transcript }) => session_transcript)).toEqual([
      last.responses.at(-1),
    ]);
  });

  it('G-68 leaves no digit in the log when the message that carries it is refused', async () => {
    const call = client.call();
    await call.turn(started({ reply: listen({ sensitive: true }) }));
    const again = call.open(event('NO_INPUT'), keys(...CANARY)).halfClose();
    expect((await again.ended()).code).toBe(status.OK);
    const foreign = client.call({ ...call.ids, organizationId: '99999999-9999-4999-8999-999999999999' });
    expect((await foreign.turn(keys(...CANARY))).ending.code).toBe(status.PERMISSION_DENIED);
    await call.turn(event('SESSION_END'));
    expectNoTrace('the log', JSON.stringify(server.log));
  });

  /** A call over WebSocket in which the next input is sensitive. */
  async function sensitiveSocket(later: Orders['later'] = 'throw'): Promise<SocketClient> {
    const client = await SocketClient.connect(server);
    const orders = started({ reply: listen({ sensitive: true, digits: CANARY.length }), later });
    client.send(eventInput('SESSION_START', { parameters: jsonFromStruct(orders.event_input?.parameters) }));
    await client.replied(1);
    expect(client.finals[0]).toMatchObject({ input_sensitive: true });
    return client;
  }

  it.each([
    ['makes its bot throw', 'throw'],
    ['is answered by a recording', play('yes.wav').listen()],
  ] as const)('G-68 G-83 leaves no digit in log, metrics or messages over WebSocket when it %s', async (_how, later) => {
    const client = await sensitiveSocket(later);
    client.send(keyInput(...CANARY_KEYS));
    await client.replied(2);
    client.send(eventInput('SESSION_END'));
    await client.close();
    await expectNoTraceOf(client.conversationId);
    expectNoTrace('the messages', JSON.stringify(client.messages));
  });

  it.each<readonly [string, Lies]>([
    ['repeats a number (W-10)', { envelope: { seq: 1 } }],
    ['names another organization (W-22)', { payload: { customer_org_id: '99999999-9999-4999-8999-999999999999' } }],
    ['names another conversation (W-13)', { envelope: { conversation_id: CANARY.join('') } }],
    ['has a second input', { payload: { voice_va_input_type: { ...keyInput(...CANARY_KEYS), ...eventInput(CANARY.join('')) } } }],
  ])('G-68 leaves no digit in log, metrics or messages when the message that carries it over WebSocket %s', async (_what, lies) => {
    const client = await sensitiveSocket();
    client.lie(keyInput(...CANARY_KEYS), lies);
    expectNoTrace('the close', JSON.stringify(await client.closed()));
    await expectNoTraceOf(client.conversationId);
    expectNoTrace('the messages', JSON.stringify(client.messages));
  });

  it('W-17 G-68 leaves no digit in log, metrics or messages when a message over WebSocket is of no known type', async () => {
    const client = await sensitiveSocket();
    client.lie(keyInput(...CANARY_KEYS), { envelope: { type: CANARY.join('') } });
    client.send(eventInput('SESSION_END'));
    await client.close();
    await expectNoTraceOf(client.conversationId);
    expectNoTrace('the messages', JSON.stringify(client.messages));
  });
});

describe('a bot that fails outside of its call', () => {
  let issuer: Issuer;
  let certificate: TestCertificate;
  beforeAll(async () => {
    [issuer, certificate] = await Promise.all([startIssuer({ profile: loadProfile('fake') }), testCertificate()]);
  });
  afterAll(async () => {
    certificate.remove();
    await issuer.close();
  });

  it('G-68 writes no digit: a rejected promise ends nothing, an error in a timer ends the process with code 1 after its calls', async ({
    onTestFinished,
  }) => {
    const running = new ServeProcess([
      ...serverFlags(issuer, certificate, [dataSource(issuer)]),
      ...['--json', ...WITH_PUPPET, '--synthesizer.engine=none', '--shutdown.grace_ms=20000'],
    ]);
    onTestFinished(() => running.kill());
    const { port } = await running.ready();
    const client = new PlatformClient({
      target: `localhost:${String(port)}`,
      authority: certificate.certificatePem,
      authorization: await issuer.issueToken(),
      organizationId: issuer.claims.organizationId,
    });
    onTestFinished(() => {
      client.close();
    });
    const call = client.call();
    await pressCanary(call, 'reject');
    await running.logged('nobody waits for');
    expect((await call.turn(ordered({ reply: listen() }))).ending.code).toBe(status.OK);
    await call.turn(event('SESSION_END'));

    const other = client.call();
    await other.turn(started());
    const open = other.open(format(), ...quiet(100));
    await pressCanary(client.call(), 'throw_later');
    await running.logged('outside of any call');
    expect((await client.call().turn(started())).story).toEqual(['FINAL TRANSFER_TO_AGENT text']);
    expect(running.exit).toBeUndefined();
    open.halfClose();
    expect((await open.ended()).code).toBe(status.OK);
    expect(await running.ended()).toEqual({ code: 1, signal: null });
    expectNoTrace('what the process printed', running.stdout + running.stderr);
  });
});
