import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { REST_LIMITS, RestClient, type RestClientOptions, type RestRequest } from '../../../../src/admin/rest/rest-client.ts';
import { RestError } from '../../../../src/admin/rest/rest-error.ts';
import type { TokenSource } from '../../../../src/admin/token-source.ts';
import { AppError } from '../../../../src/base/errors.ts';
import type { HttpMethod } from '../../../../src/base/http-exchange.ts';
import {
  addressAt,
  adminServer,
  answer,
  countedTokens,
  cut,
  failureOf,
  hang,
  json,
  keptLog,
  passPause,
  stall,
  type AdminServer,
} from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { freePort } from '../../../support/free-port.ts';
import type { Answering } from '../../../support/speech-service.ts';
import { until } from '../../../support/until.ts';
import { never } from '../../../support/voice.ts';

interface Surroundings {
  readonly clock: FakeClock;
  readonly server: AdminServer;
  readonly rest: RestClient;
  readonly tokens: ReturnType<typeof countedTokens>;
  readonly lines: string[];
}

async function open(ways: readonly Answering[], options: Partial<RestClientOptions> = {}): Promise<Surroundings> {
  const clock = new FakeClock();
  const server = await adminServer(...ways);
  const tokens = countedTokens();
  const { log, lines } = keptLog();
  // Every pause is half of its bound.
  const rest = new RestClient({ address: server.address, tokens, clock, log, random: () => 0.5, ...options });
  return { clock, server, rest, tokens, lines };
}

const FINE = { fine: true };
const OK = json(FINE);
const GET: RestRequest = { method: 'GET', path: '/things?max=2' };
const BODY = { clientSecret: 'CANARY-secret', nonce: 'CANARY-nonce', name: 'n' };
const asked = (method: HttpMethod): RestRequest => ({ method, path: '/things/1', ...(method === 'GET' ? {} : { body: BODY }) });
const ask = (rest: RestClient, request: RestRequest = GET, signal = never()): Promise<unknown> =>
  rest.send(request, signal, ({ body }) => body);

async function restErrorOf(work: Promise<unknown>): Promise<RestError> {
  const failure = await failureOf(work);
  if (!(failure instanceof RestError)) throw failure;
  return failure;
}

describe('a request to the administration interface', () => {
  it.each<HttpMethod>(['GET', 'POST', 'PUT', 'DELETE'])('goes out as %s with token, tracking id and body', async (method) => {
    const { rest, server, clock } = await open([OK]);
    expect(await ask(rest, asked(method))).toEqual(FINE);
    const { method: sent, path, headers, body } = await server.arrived(1);
    expect([sent, path]).toEqual([method, '/v1/things/1']);
    expect(headers).toMatchObject({ authorization: 'Bearer CANARY-token-1', accept: 'application/json' });
    expect(headers['trackingid']).toMatch(/^parley_[0-9a-f-]{36}_1$/u);
    expect(body.toString()).toBe(method === 'GET' ? '' : JSON.stringify(BODY));
    expect(headers['content-type']).toBe(method === 'GET' ? undefined : 'application/json');
    expect(clock.pendingTimers).toBe(0);
  });

  it('may be answered with nothing', async () => {
    const { rest } = await open([answer(204, undefined)]);
    expect(await ask(rest)).toBeUndefined();
  });

  it('has an id of its own, with the number of the try', async () => {
    const { rest, server, clock } = await open([answer(500, ''), OK]);
    const work = ask(rest);
    await passPause(clock, 250);
    await work;
    await ask(rest);
    const ids = server.received.map(({ headers }) => String(headers['trackingid']));
    expect(ids.map((id) => id.slice(-2))).toEqual(['_1', '_2', '_1']);
    expect(new Set(ids.map((id) => id.slice(0, -2))).size).toBe(2);
  });
});

describe('what a request fails with', () => {
  it('says status, words and tracking id of the platform, and the request without its query', async () => {
    const { rest } = await open([
      answer(409, { message: 'There is one already', trackingId: 'ROUTER_1', errors: [{ description: 'nonce' }] }),
    ]);
    const failure = await restErrorOf(ask(rest));
    expect(failure).toMatchObject({ code: 'platform_refused', status: 409, trackingId: 'ROUTER_1', mayHaveHappened: false });
    expect(failure.message).toBe(
      'GET /things: the platform refused the request (status 409): There is one already / nonce (tracking id ROUTER_1)',
    );
    expect(failure.details).toEqual({
      ...{ outcome: 'client_error', status: 409, trackingId: 'ROUTER_1', platformMessage: 'There is one already / nonce' },
    });
  });

  it('has the tracking id of the header before that of the body', async () => {
    const { rest } = await open([answer(400, { message: 'no', trackingId: 'BODY_1' }, { trackingid: 'HEADER_1' })]);
    expect((await restErrorOf(ask(rest))).trackingId).toBe('HEADER_1');
  });

  it('repeats in no part what was sent in secret, and no control characters (R-13)', async () => {
    const message = `secret CANARY-secret\u001b[31m, nonce CANARY-nonce\r\nof CANARY-token-1, Bearer CANARY-other and eyJDQU5BUlk.eyJDQU5BUlk.CANARY`;
    const { rest, lines } = await open([answer(400, { message, trackingId: 'CANARY-nonce' })]);
    const failure = await restErrorOf(ask(rest, asked('PUT')));
    expect(failure.platformMessage).toBe('secret [hidden] [31m, nonce [hidden] of [hidden], Bearer [hidden] and [hidden]');
    expect(failure.trackingId).toBeUndefined();
    expect(lines.join('')).not.toContain('CANARY');
  });

  it.each([
    ['a page of a proxy', answer(502, '<html>CANARY</html>')],
    ['a list', answer(502, ['CANARY'])],
    ['other members', answer(502, { message: { text: 'CANARY' }, errors: 'CANARY' })],
    ['more than is read', answer(502, { message: `CANARY${'x'.repeat(3000)}` })],
    ['half a message', halfMessage((response) => response.socket?.destroy())],
  ])('says nothing of an answer that is %s', async (_, way) => {
    const limits = { ...REST_LIMITS, maxAnswerBytes: 2000, retry: { ...REST_LIMITS.retry, maxTries: 1 } };
    const { rest } = await open([way], { limits });
    expect(await restErrorOf(ask(rest))).toMatchObject({ status: 502, platformMessage: undefined });
  });

  it('has the status of an answer whose words never come', async () => {
    const { rest, clock, server } = await open([halfMessage(() => undefined)], {
      limits: { ...REST_LIMITS, retry: { ...REST_LIMITS.retry, maxTries: 1 } },
    });
    const armed = vi.spyOn(clock, 'after');
    const failing = restErrorOf(ask(rest));
    await server.arrived(1);
    // The silence counts from anew after it: once for the try, and twice for the silence.
    await until('the first byte is read', () => armed.mock.calls.filter(([delayMs]) => delayMs === REST_LIMITS.tryMs).length === 3);
    await clock.advanceAsync(REST_LIMITS.tryMs);
    expect(await failing).toMatchObject({ status: 502, platformMessage: undefined });
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [400, 'platform_refused'],
    [403, 'platform_refused'],
    [404, 'platform_refused'],
    [301, 'platform_refused'],
    [423, 'platform_unavailable'],
    [429, 'platform_unavailable'],
    [500, 'platform_unavailable'],
  ])('has for the status %i the code %s', async (status, code) => {
    const { rest, server } = await open([answer(status, '', { location: 'http://127.0.0.1:1/' })], {
      limits: { ...REST_LIMITS, retry: { ...REST_LIMITS.retry, maxTries: 1 } },
    });
    expect(await restErrorOf(ask(rest))).toMatchObject({ code, status });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['is no JSON', answer(200, 'CANARY {')],
    ['is too long', answer(200, JSON.stringify('CANARY'.repeat(1000)))],
  ])('says that a good answer %s, and is no reason to ask again', async (_, way) => {
    const { rest, server } = await open([way], { limits: { ...REST_LIMITS, maxAnswerBytes: 2000 } });
    expect(await restErrorOf(ask(rest))).toMatchObject({ code: 'platform_answer_invalid', mayHaveHappened: false });
    expect(await restErrorOf(ask(rest, asked('POST')))).toMatchObject({ code: 'platform_answer_invalid', mayHaveHappened: true });
    expect(server.received).toHaveLength(2);
  });

  it('says where the reader stumbled, with the tracking id of the answer', async () => {
    const { rest } = await open([answer(200, { id: 7 }, { trackingid: 'T_1' })]);
    const work = rest.send(asked('POST'), never(), () => {
      throw new AppError('platform_answer_invalid', 'id is missing or wrong');
    });
    const failure = await restErrorOf(work);
    expect(failure).toMatchObject({ code: 'platform_answer_invalid', trackingId: 'T_1', mayHaveHappened: true });
    expect(failure.message).toContain('id is missing or wrong (tracking id T_1)');
  });

  it('lets other errors of the reader pass', async () => {
    const { rest } = await open([OK]);
    const work = rest.send(GET, never(), () => {
      throw new AppError('config_invalid', 'ours');
    });
    expect((await failureOf(work)).code).toBe('config_invalid');
  });
});

describe('asking again', () => {
  it.each<[string, Answering, readonly HttpMethod[]]>([
    ['429', answer(429, ''), ['GET', 'POST', 'PUT', 'DELETE']],
    ['503', answer(503, ''), ['GET', 'PUT', 'DELETE']],
    ['423', answer(423, ''), ['GET', 'POST', 'PUT', 'DELETE']],
    ['500', answer(500, ''), ['GET', 'PUT', 'DELETE']],
    ['502', answer(502, ''), ['GET', 'PUT', 'DELETE']],
    ['504', answer(504, ''), ['GET', 'PUT', 'DELETE']],
    ['a broken connection', cut(), ['GET', 'PUT', 'DELETE']],
    ['an answer that breaks off', cut(Buffer.from('{'), 'application/json'), ['GET', 'PUT', 'DELETE']],
    ['400', answer(400, ''), []],
    ['404', answer(404, ''), []],
    ['409', answer(409, ''), []],
    ['a redirect', answer(302, '', { location: '/v1/other' }), []],
  ])('after %s is done only where it is safe (R-11, R-12)', async (_, way, methods) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
      const { rest, server, clock } = await open([way, OK]);
      if (methods.includes(method)) {
        const work = ask(rest, asked(method));
        await passPause(clock, 250);
        expect(await work).toEqual(FINE);
        expect(server.received).toHaveLength(2);
      } else {
        await restErrorOf(ask(rest, asked(method)));
        expect(server.received).toHaveLength(1);
      }
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('waits twice as long each time, and stops after the last try', async () => {
    const { rest, server, clock } = await open([answer(500, '')]);
    const failing = restErrorOf(ask(rest));
    for (const ms of [250, 500, 1000]) await passPause(clock, ms);
    expect((await failing).status).toBe(500);
    expect([server.received.length, clock.pendingTimers]).toEqual([4, 0]);
  });

  it.each([
    [429, 'seconds', '7'],
    [503, 'seconds', '7'],
    [503, 'a date', new Date(new FakeClock().nowMs() + 7000).toUTCString()],
  ])('after %i waits as long as the platform says, in %s, and a little more (R-11)', async (status, _, after) => {
    const { rest, clock } = await open([answer(status, '', { 'retry-after': after }), OK]);
    const work = ask(rest, asked('POST'));
    await passPause(clock, 7250);
    expect(await work).toEqual(FINE);
  });

  it('does not wait longer than it may, and says when to come back', async () => {
    const { rest, server } = await open([answer(503, '', { 'retry-after': '31' }), OK]);
    expect(await restErrorOf(ask(rest))).toMatchObject({ code: 'platform_unavailable', retryAfterMs: 31_000 });
    expect(server.received).toHaveLength(1);
  });

  it('is not done when the pause would end after the time is up', async () => {
    const { rest, server, clock } = await open([answer(503, '', { 'retry-after': '7' })], { limits: { ...REST_LIMITS, wholeMs: 7100 } });
    expect((await restErrorOf(ask(rest))).status).toBe(503);
    expect([server.received.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it.each<HttpMethod>(['GET', 'POST'])('is done for %s when no connection came about, because nothing was sent', async (method) => {
    const { rest, clock } = await open([], { address: addressAt(`http://127.0.0.1:${String(await freePort())}`) });
    const failing = restErrorOf(ask(rest, asked(method)));
    for (const ms of [250, 500, 1000]) await passPause(clock, ms);
    expect(await failing).toMatchObject({ code: 'platform_unavailable', outcome: 'unreachable', mayHaveHappened: false });
  });

  it.each<[string, HttpMethod, boolean]>([
    ['a POST once (R-12)', 'POST', true],
    ['a GET again', 'GET', false],
  ])('without an answer in time is done: %s', async (_, method, isFinal) => {
    const { rest, server, clock } = await open([hang, OK]);
    const work = ask(rest, asked(method));
    const settled = work.catch((thrown: unknown) => thrown);
    await server.arrived(1);
    await clock.advanceAsync(REST_LIMITS.tryMs);
    if (isFinal) {
      expect(await settled).toMatchObject({ code: 'platform_unavailable', outcome: 'timeout', mayHaveHappened: true });
      expect((await restErrorOf(work)).message).toMatch(/did not answer within 15000 ms; it may have been done nevertheless$/u);
    } else {
      await passPause(clock, 250);
      expect(await settled).toEqual(FINE);
    }
    expect([server.received.length, clock.pendingTimers]).toEqual([isFinal ? 1 : 2, 0]);
  });

  it('ends an answer that dribbles at the limit of the try', async () => {
    const { rest, server, clock } = await open([stall('{"a":', 'application/json'), OK]);
    const work = ask(rest);
    const { response } = await server.arrived(1);
    await clock.advanceAsync(14_000);
    await new Promise<void>((resolve) => {
      response.write('1', () => {
        resolve();
      });
    });
    await clock.advanceAsync(1000);
    await passPause(clock, 250);
    expect(await work).toEqual(FINE);
  });

  it('remembers that an earlier try may have been done', async () => {
    const { rest, clock } = await open([cut(), answer(404, '')]);
    const failing = restErrorOf(ask(rest, asked('PUT')));
    await passPause(clock, 250);
    expect(await failing).toMatchObject({ status: 404, mayHaveHappened: true });
  });

  it.each([404, 410])('leaves it at that when a thing to delete is gone after an earlier try (%i)', async (status) => {
    const { rest, clock } = await open([cut(), answer(status, '')]);
    const work = rest.delete('/things/1', never());
    await passPause(clock, 250);
    await work;
  });

  it('fails when a thing to delete was never there', async () => {
    const { rest, clock } = await open([answer(503, '', { 'retry-after': '1' }), answer(404, '')]);
    const failing = restErrorOf(rest.delete('/things/1', never()));
    await passPause(clock, 1250);
    expect((await failing).status).toBe(404);
  });
});

describe('a token that the platform refuses', () => {
  it.each<HttpMethod>(['GET', 'POST'])('is refreshed once, and %s sent once more (R-10)', async (method) => {
    const { rest, server, tokens } = await open([answer(401, ''), OK]);
    expect(await ask(rest, asked(method))).toEqual(FINE);
    expect(tokens.refreshes).toEqual(['CANARY-token-1']);
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer CANARY-token-1', 'Bearer CANARY-token-2']);
  });

  it('twice means that somebody has to authorize again (R-10)', async () => {
    const { rest, server, tokens } = await open([answer(401, { message: 'no CANARY-token-2' })]);
    expect(await restErrorOf(ask(rest))).toMatchObject({ code: 'authorization_needed', status: 401, platformMessage: 'no [hidden]' });
    expect([server.received.length, tokens.refreshes.length]).toEqual([2, 1]);
  });

  it('twice means so also with another failure between', async () => {
    const { rest, server, clock } = await open([answer(401, ''), answer(503, ''), answer(401, '')]);
    const failing = restErrorOf(ask(rest));
    await passPause(clock, 250);
    expect((await failing).code).toBe('authorization_needed');
    expect(server.received).toHaveLength(3);
  });

  it('is what its source says when there is none', async () => {
    const tokens: TokenSource = {
      current: () => Promise.reject(new AppError('login_needed', 'nobody has logged in')),
      refreshed: () => Promise.reject(new Error('unreachable')),
    };
    const { rest, server } = await open([OK], { tokens });
    expect((await failureOf(ask(rest))).code).toBe('login_needed');
    expect(server.received).toHaveLength(0);
  });

  it('is not waited for longer than for everything else', async () => {
    const forever = (): Promise<string> => new Promise(() => undefined);
    const { rest, clock } = await open([OK], { tokens: { current: forever, refreshed: forever } });
    const failing = restErrorOf(ask(rest));
    await clock.advanceAsync(REST_LIMITS.wholeMs);
    expect(await failing).toMatchObject({ code: 'platform_unavailable', outcome: 'timeout' });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a request that nobody waits for', () => {
  it.each(['before', 'during the request', 'during the pause'])('ends at once: %s', async (when) => {
    const { rest, server, clock } = await open([when === 'during the pause' ? answer(500, '') : hang]);
    const controller = new AbortController();
    if (when === 'before') controller.abort();
    const failing = restErrorOf(ask(rest, GET, controller.signal));
    if (when === 'during the request') await server.arrived(1);
    if (when === 'during the pause') await passPause(clock, 250).then(() => passPause(clock, 500));
    controller.abort();
    expect((await failing).code).toBe('platform_unavailable');
    expect([server.received.length, clock.pendingTimers]).toEqual([when === 'before' ? 0 : when === 'during the pause' ? 3 : 1, 0]);
  });

  it('ends when its whole time is up, whatever it is waiting for', async () => {
    const { rest, server, clock } = await open([hang], { limits: { ...REST_LIMITS, tryMs: 100_000 } });
    const failing = restErrorOf(ask(rest));
    await server.arrived(1);
    await clock.advanceAsync(REST_LIMITS.wholeMs);
    expect(await failing).toMatchObject({ code: 'platform_unavailable', outcome: 'timeout' });
    expect(clock.pendingTimers).toBe(0);
  });
});

/** A refusal whose message is not whole, and what happens then. */
function halfMessage(then: (response: ServerResponse) => void): Answering {
  return (response) => {
    response.writeHead(502, { 'content-type': 'application/json' }).write('{"message":"CANARY', () => {
      then(response);
    });
  };
}
