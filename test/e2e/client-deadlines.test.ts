// Deadlines that clients set themselves (`grpc-timeout`), shorter than any answer takes.
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { Http2Client } from '../support/http2-client.ts';
import { PATHS } from '../support/platform-client.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { event } from '../support/wire-audio.ts';

it.each([
  ['1n', true],
  ['1m', true],
  ['1n', false],
])('deadlines of %s on 500 streams at once keep no place for a stream (good token: %s)', async (timeout, hasToken) => {
  // The places of one round: if one of them stayed taken, the next round would hear of it.
  const server = await RunningServer.start({ hasTls: false, flags: [...WITH_TEST_BOTS, '--turns.max_open=500'] });
  onTestFinished(() => server.close());
  const authorization = hasToken ? await server.issuer.issueToken() : 'none';
  const client = await server.client();
  await client.list();
  for (let round = 0; round < 3; round += 1) {
    const raw = new Http2Client(server.target, { authorization });
    const streams = Array.from({ length: 500 }, () => raw.open(PATHS.callerInput, { 'grpc-timeout': timeout }));
    const codes = (await Promise.all(streams.map((stream) => stream.ended()))).map(({ code }) => code);
    const inTime: readonly (number | undefined)[] = [status.DEADLINE_EXCEEDED, status.UNAUTHENTICATED];
    expect(codes.filter((code) => !inTime.includes(code))).toEqual([]);
    raw.destroy();
  }
  expect((await client.call().turn(event('SESSION_START'))).ending.code).toBe(status.OK);
});
