import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CircuitState } from '../../../src/base/circuit-breaker.ts';
import { RequestFailure, type RequestOutcome } from '../../../src/base/http-exchange.ts';
import { HttpService, isServiceAddress, type HttpServiceOptions, type ServiceAnswer } from '../../../src/base/http-service.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import {
  body,
  cut,
  cutAtTheEnd,
  endless,
  hang,
  pieces,
  speechService,
  stall,
  status,
  type Answering,
  type SpeechService,
} from '../../support/speech-service.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { never } from '../../support/voice.ts';

interface Surroundings {
  readonly clock: FakeClock;
  readonly server: SpeechService;
  readonly service: HttpService;
  readonly outcomes: RequestOutcome[];
  readonly circuit: CircuitState[];
  readonly retries: number[];
}

async function open(ways: readonly Answering[], limits: Partial<HttpServiceOptions> = {}): Promise<Surroundings> {
  const clock = new FakeClock();
  const server = await speechService(...ways);
  const outcomes: RequestOutcome[] = [];
  const circuit: CircuitState[] = [];
  const retries: number[] = [];
  const service = new HttpService({
    ...{ name: 'the test service', code: 'recognition_failed', url: `${server.url}/v1/`, key: 'KEY-CANARY' },
    ...{ timeoutMs: 5000, firstByteMs: 5000, maxAnswerBytes: 1000, clock },
    observer: {
      requestEnded: (outcome) => outcomes.push(outcome),
      requestRetried: () => retries.push(outcomes.length),
      circuitChanged: (state) => circuit.push(state),
    },
    ...limits,
  });
  onTestFinished(() => service.close());
  return { clock, server, service, outcomes, circuit, retries };
}

async function textOf({ chunks }: ServiceAnswer): Promise<string> {
  const taken: Uint8Array[] = [];
  for await (const chunk of chunks) taken.push(chunk);
  return Buffer.concat(taken).toString();
}

function ask(service: HttpService, signal: AbortSignal = never()): Promise<string> {
  return service.ask({ path: '/do', headers: { 'content-type': 'text/plain' }, body: 'TEXT-CANARY' }, signal, textOf);
}

/** What the request fails with; none of it may quote anything. */
async function failureOf(work: Promise<unknown>): Promise<{ message: string; details: unknown }> {
  const thrown: unknown = await work.then(
    () => {
      throw new Error('the request did not fail');
    },
    (cause: unknown) => cause,
  );
  expect(thrown).toMatchObject({ name: 'AppError', code: 'recognition_failed' });
  expect(thrown).not.toHaveProperty('cause');
  const { message, details } = thrown as { message: string; details: unknown };
  expect(`${message} ${JSON.stringify(details)}`).not.toContain('CANARY');
  return { message, details };
}

/** Lets the pause before the second try pass once it has begun. */
async function passPause(clock: FakeClock, ms: number): Promise<void> {
  await until('the pause begins', () => clock.nextTimerInMs === ms);
  await clock.advanceAsync(ms);
}

const OK = body('fine', 'text/plain');

describe('HttpService', () => {
  it('posts below its address with its key, and gives the answer to the reader', async () => {
    const { service, server, outcomes, clock } = await open([OK]);
    expect(await ask(service)).toBe('fine');
    const { method, path, headers, body: sent } = await server.arrived(1);
    expect([method, path, sent.toString()]).toEqual(['POST', '/v1/do', 'TEXT-CANARY']);
    expect(headers).toMatchObject({ authorization: 'Bearer KEY-CANARY', 'content-type': 'text/plain' });
    expect([outcomes, clock.pendingTimers]).toEqual([['ok'], 0]);
  });

  it('sends no authorization without a key', async () => {
    const { service, server } = await open([OK], { key: undefined });
    await ask(service);
    expect((await server.arrived(1)).headers.authorization).toBeUndefined();
  });

  it('takes no answer that is compressed although it was asked not to', async () => {
    const compressed: Answering = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('fine'));
    };
    const { service, server, outcomes } = await open([compressed]);
    expect((await failureOf(ask(service))).details).toEqual({ outcome: 'bad_answer' });
    expect([(await server.arrived(1)).headers['accept-encoding'], outcomes]).toEqual(['identity', ['bad_answer']]);
  });

  it.each([
    ['the status 500', status(500)],
    ['the status 503', status(503)],
    ['the status 429 without a time', status(429)],
    ['a connection that is cut before the answer', cut()],
    ['a connection that is cut within the answer', cut(new Uint8Array(10))],
    ['an answer in chunks without its last chunk', cutAtTheEnd(new Uint8Array(10), { 'transfer-encoding': 'chunked' })],
    ['an answer that is shorter than its length', cutAtTheEnd(new Uint8Array(10), { 'content-length': '100' })],
  ])('asks once more after %s', async (_, way) => {
    const { service, server, outcomes, retries, clock } = await open([way, OK]);
    const asked = ask(service);
    await passPause(clock, 150);
    expect(await asked).toBe('fine');
    expect([server.received.length, outcomes, retries, clock.pendingTimers]).toEqual([2, ['ok'], [0], 0]);
  });

  it('asks once more and no oftener, and then says what the second answer was', async () => {
    const { service, server, clock, outcomes } = await open([status(500), status(502), OK]);
    const asked = failureOf(ask(service));
    await passPause(clock, 150);
    expect(await asked).toEqual({ message: 'the test service failed (status 502)', details: { outcome: 'server_error', status: 502 } });
    expect([server.received.length, outcomes]).toEqual([2, ['server_error']]);
  });

  it.each([
    ['400', status(400), 'client_error', 400],
    ['401', status(401), 'client_error', 401],
    ['404', status(404), 'client_error', 404],
  ])('does not ask again after the status %s', async (_, way, outcome, code) => {
    const { service, server } = await open([way, OK]);
    expect((await failureOf(ask(service))).details).toEqual({ outcome, status: code });
    expect(server.received.length).toBe(1);
  });

  it.each([301, 302, 307, 308])('follows no redirect of status %i, to its own address or another', async (code) => {
    const elsewhere = await speechService(OK);
    const { service, server } = await open([
      status(code, { location: `${elsewhere.url}/v1/do` }),
      status(code, { location: '/v1/done' }),
      OK,
    ]);
    for (const _ of [1, 2]) expect((await failureOf(ask(service))).message).toContain('redirects, which is not followed');
    expect([server.received.length, elsewhere.received.length]).toEqual([2, 0]);
  });

  it('waits as long as a busy service asks, when that is short', async () => {
    const { service, server, clock } = await open([status(429, { 'retry-after': '2' }), OK]);
    const asked = ask(service);
    await until('the pause begins', () => clock.nextTimerInMs === 2000);
    await clock.advanceAsync(1999);
    expect(server.received.length).toBe(1);
    await clock.advanceAsync(1);
    expect(await asked).toBe('fine');
  });

  it.each([
    ['in a minute', '60'],
    ['at a date', new Date(1_800_000_060_000).toUTCString()],
  ])('does not wait for a busy service that wants to be asked %s', async (_, value) => {
    const { service, server } = await open([status(429, { 'retry-after': value }), OK]);
    expect((await failureOf(ask(service))).details).toEqual({ outcome: 'rate_limited', status: 429 });
    expect(server.received.length).toBe(1);
  });

  it('does not ask again when the deadline is nearer than the pause', async () => {
    const { service, server } = await open([status(500), OK], { timeoutMs: 150 });
    expect((await failureOf(ask(service))).details).toMatchObject({ outcome: 'server_error' });
    expect(server.received.length).toBe(1);
  });

  it('does not ask again once something was passed on', async () => {
    const { service, server } = await open([cut(new Uint8Array(10)), OK]);
    const asked = service.ask({ path: '/do', body: '' }, never(), async (answer) => {
      for await (const _ of answer.chunks) answer.passedOn();
    });
    expect(await failureOf(asked)).toEqual({ message: 'the test service broke off its answer', details: { outcome: 'unreachable' } });
    expect(server.received.length).toBe(1);
  });

  it('gives up when the first byte does not come, and does not ask again', async () => {
    const { service, server, clock } = await open([stall('', 'text/plain'), OK], { firstByteMs: 700 });
    const asked = failureOf(ask(service));
    await server.arrived(1);
    await clock.advanceAsync(700);
    expect(await asked).toEqual({ message: 'the test service sent nothing within 700 ms', details: { outcome: 'timeout' } });
    expect([server.received.length, clock.pendingTimers]).toEqual([1, 0]);
    await until('the service is let go', () => server.received[0]?.isAbandoned === true);
  });

  it.each([
    ['no answer', hang],
    ['half an answer', stall('begin', 'text/plain')],
  ])('gives up at its deadline over %s', async (_, way) => {
    const { service, server, clock, outcomes } = await open([way, OK]);
    const asked = failureOf(ask(service));
    await server.arrived(1);
    await clock.advanceAsync(5000);
    expect(await asked).toEqual({ message: 'the test service took longer than 5000 ms', details: { outcome: 'timeout' } });
    expect([server.received.length, outcomes, clock.pendingTimers]).toEqual([1, ['timeout'], 0]);
  });

  it('gives more time to a reader who asks for it', async () => {
    const { service, server, clock } = await open([stall('begin', 'text/plain')], { firstByteMs: 10_000 });
    const asked = service.ask({ path: '/do', body: '' }, never(), async (answer) => {
      answer.allow(9000);
      answer.allow(100);
      return textOf(answer);
    });
    await until('the beginning is there', async () => (await server.arrived(1)).response.headersSent);
    await flushMicrotasks();
    await clock.advanceAsync(8999);
    server.received[0]?.response.end(' and end');
    expect(await asked).toBe('begin and end');
  });

  it('stops at once when nobody waits any more', async () => {
    const { service, server, clock, outcomes } = await open([hang]);
    const leaving = new AbortController();
    const asked = failureOf(ask(service, leaving.signal));
    await server.arrived(1);
    leaving.abort('hang_up');
    expect((await asked).details).toEqual({ outcome: 'cancelled' });
    await until('the service is let go', () => server.received[0]?.isAbandoned === true);
    expect([outcomes, clock.pendingTimers]).toEqual([['cancelled'], 0]);
    expect((await failureOf(ask(service, leaving.signal))).details).toEqual({ outcome: 'cancelled' });
    expect(server.received.length).toBe(1);
  });

  it('does not ask again when nobody waits after the pause', async () => {
    const { service, server, clock, retries } = await open([status(500), OK]);
    const leaving = new AbortController();
    const asked = failureOf(ask(service, leaving.signal));
    await until('the pause begins', () => clock.nextTimerInMs === 150);
    leaving.abort('hang_up');
    expect((await asked).details).toEqual({ outcome: 'cancelled' });
    expect([server.received.length, retries, clock.pendingTimers]).toEqual([1, [], 0]);
  });

  it('stops reading an answer that is too large', async () => {
    const { service, server } = await open([endless('text/plain')]);
    expect(await failureOf(ask(service))).toEqual({
      message: 'the test service answered with more than 1000 bytes',
      details: { outcome: 'bad_answer' },
    });
    await until('the service is let go', () => server.received[0]?.isAbandoned === true);
  });

  it('lets go of an answer that its reader does not want, and quotes nothing of it', async () => {
    const { service, server, outcomes } = await open([endless('text/plain')]);
    const asked = service.ask({ path: '/do', body: '' }, never(), () => Promise.reject(new SyntaxError('CANARY is no JSON')));
    expect((await failureOf(asked)).message).toBe('the test service answered with something that cannot be used: SyntaxError');
    const refused = service.ask({ path: '/do', body: '' }, never(), () => Promise.reject(new RequestFailure('bad_answer', 'sent a song')));
    expect((await failureOf(refused)).message).toBe('the test service sent a song');
    await until('the service is let go', () => server.received.every(({ isAbandoned }) => isAbandoned));
    expect(outcomes).toEqual(['bad_answer', 'bad_answer']);
  });

  it('says how no connection came about', async () => {
    const { service, clock, retries } = await open([], { url: `http://127.0.0.1:${String(await freePort())}` });
    const asked = failureOf(ask(service));
    await passPause(clock, 150);
    expect(await asked).toEqual({ message: 'the test service cannot be reached (ECONNREFUSED)', details: { outcome: 'unreachable' } });
    expect(retries.length).toBe(1);
  });

  it('refuses more than so many requests at once', async () => {
    const { service, server, outcomes } = await open([hang], { maxRunning: 2 });
    const taken = [1, 2].map(() => failureOf(ask(service)));
    await server.arrived(2);
    expect((await failureOf(ask(service))).details).toEqual({ outcome: 'busy' });
    await service.close();
    await Promise.all(taken);
    expect(outcomes).toEqual(['busy', 'cancelled', 'cancelled']);
  });

  it('leaves a service alone that failed five times in a row, and tries again after a while', async () => {
    const { service, server, clock, circuit } = await open([body('', 'text/plain', 500)], { timeoutMs: 100, firstByteMs: 100 });
    for (const _ of [1, 2, 3, 4, 5]) await failureOf(ask(service));
    expect(await failureOf(ask(service))).toEqual({
      message: 'the test service failed too often and is left alone for a while',
      details: { outcome: 'circuit_open' },
    });
    expect(server.received.length).toBe(5);
    server.answer(OK);
    clock.advance(2000);
    expect(await ask(service)).toBe('fine');
    expect(circuit).toEqual(['open', 'half_open', 'closed']);
  });

  it('does not take callers who hang up, or requests that are refused, for failures of the service', async () => {
    const { service, server, circuit } = await open([status(400)]);
    for (let time = 0; time < 10; time += 1) await failureOf(ask(service));
    server.answer(hang);
    for (let time = 0; time < 10; time += 1) {
      const leaving = new AbortController();
      const asked = failureOf(ask(service, leaving.signal));
      await server.arrived(11 + time);
      leaving.abort('hang_up');
      await asked;
    }
    expect(circuit).toEqual([]);
  });

  it('ends what is under way when it is closed, and takes nothing any more', async () => {
    const { service, server, clock } = await open([hang]);
    const asked = failureOf(ask(service));
    await server.arrived(1);
    await service.close();
    expect((await asked).message).toBe('the test service is closed');
    expect((await failureOf(ask(service))).message).toBe('the test service is closed');
    expect([server.received.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('does not mind an observer that throws', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const { service } = await open([status(500)], { timeoutMs: 100, observer: { requestEnded: broken, circuitChanged: broken } });
    for (let time = 0; time < 6; time += 1) await failureOf(ask(service));
  });

  it('yields the body in the pieces in which it arrives', async () => {
    const { service } = await open([pieces([new Uint8Array(3), new Uint8Array(5)])]);
    expect((await ask(service)).length).toBe(8);
  });
});

describe('isServiceAddress', () => {
  it.each([
    ['https://speech.example.com/v1', true],
    ['http://127.0.0.1:8000', true],
    ['http://[::1]:8000/v1', true],
    ['http://localhost/v1', true],
    ['http://speech.example.com/v1', false],
    ['http://10.0.0.1/v1', false],
    ['https://user:password@speech.example.com', false],
    ['https://speech.example.com/v1?key=1', false],
    ['https://speech.example.com/v1#top', false],
    ['ftp://localhost', false],
    ['file:///etc/passwd', false],
  ])('judges %s: %s', (address, expected) => {
    expect(isServiceAddress(new URL(address))).toBe(expected);
    const create = (): HttpService =>
      new HttpService({
        ...{ name: 'it', code: 'synthesis_failed', url: address, key: undefined },
        ...{ timeoutMs: 1, firstByteMs: 1, maxAnswerBytes: 1, clock: new FakeClock() },
      });
    if (expected) expect(create).not.toThrow();
    else expect(create).toThrow(expect.objectContaining({ code: 'config_invalid' }) as Error);
  });
});
