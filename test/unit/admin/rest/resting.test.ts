import { expect, it } from 'vitest';
import { RestClient } from '../../../../src/admin/rest/rest-client.ts';
import { adminServer, answer, countedTokens, failureOf, hang, keptLog } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { never } from '../../../support/voice.ts';

it('L-10 a client that rests waits for what it has sent and sends nothing else, nor again', async () => {
  const [clock, resting] = [new FakeClock(), new AbortController()];
  const server = await adminServer(answer(429, '', { 'retry-after': '7' }), hang);
  const { address } = server;
  const rest = new RestClient({ address, tokens: countedTokens(), clock, log: keptLog().log, random: () => 0.5, resting: resting.signal });
  const ask = (): Promise<unknown> => rest.send({ method: 'POST', path: '/things' }, never(), ({ body }) => body);
  const putOff = failureOf(ask());
  await until('it pauses', () => clock.nextTimerInMs === 7250);
  const underWay = ask();
  const { response } = await server.arrived(2);
  resting.abort();
  expect(await putOff).toMatchObject({ code: 'platform_unavailable', status: 429, mayHaveHappened: false });
  expect(await failureOf(ask())).toMatchObject({ outcome: 'cancelled', mayHaveHappened: false });
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"fine":true}');
  expect([await underWay, server.received.length, clock.pendingTimers]).toEqual([{ fine: true }, 2, 0]);
});
