// The sockets of a load: a call over one of them reports what every call of a load reports.
import { afterEach, expect, it } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import type { CallFacts, WaitFact } from '../../../../src/fake-platform/load/call-facts.ts';
import { holdLoadCall, type LoadScenario } from '../../../../src/fake-platform/load/load-call.ts';
import { KnownSounds } from '../../../../src/fake-platform/load/prompt-watch.ts';
import { SocketPool } from '../../../../src/fake-platform/load/socket-pool.ts';
import type { Step } from '../../../../src/fake-platform/caller/script.ts';
import type { Line } from '../../../../src/fake-platform/lines/line.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { parseTarget } from '../../../../src/fake-platform/lines/target.ts';
import { tone } from '../../../support/call-lab.ts';
import { CountedClock } from '../../../support/counted-clock.ts';
import {
  chunk,
  ending,
  final,
  hear,
  reply,
  startScriptedSocketServer,
  welcome,
  type SocketScript,
} from '../../../support/scripted-socket-server.ts';
import { until } from '../../../support/until.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const LIMITS = { callMs: 100_000, connectMs: 100_000, answerMs: 40_000, hangUpMs: 40_000 };

async function poolTo(
  script: SocketScript,
): Promise<{ readonly pool: SocketPool; readonly clock: CountedClock; readonly sockets: () => number }> {
  const server = await startScriptedSocketServer({ script });
  const clock = new CountedClock(scaledClock(20));
  const pool = new SocketPool({
    ...{ target: parseTarget(server.target), profile: loadProfile('fake'), clock, connectLimitMs: LIMITS.connectMs, token: 'a.b.c' },
  });
  closers.push(() => {
    pool.close();
    server.close();
  });
  return { pool, clock, sockets: () => server.sockets.length };
}

const PLAIN = { agentId: '', organizationId: 'o-1', vendorConfig: '', allowPartial: false };
const SCENARIO: LoadScenario = { ...PLAIN, name: 'it', noInputMs: 0, repeatsLostTurns: false, limits: LIMITS };

/** Holds a call over a line of the pool. */
function held(line: Line, clock: Clock, script: Step[], waits: WaitFact[] = []): Promise<CallFacts> {
  return holdLoadCall({
    arrival: { number: 0, scenario: 0, dueMs: 0 },
    scenario: { ...SCENARIO, script },
    ...{ line, clock, zeroMs: clock.monotonicMs(), known: new KnownSounds(), signal: new AbortController().signal },
    onWaited: (wait) => waits.push(wait),
  });
}

it('W-08 each call has a socket of its own, which is gone when the call is over', async () => {
  const { pool, clock, sockets } = await poolTo(async (socket) => {
    await welcome(socket, 200);
    await hear(socket);
    reply(socket, 100);
  });
  const calls = await Promise.all(
    ['conversation-1', 'conversation-1'].map(async (conversationId) => {
      const line = pool.line({ ...PLAIN, conversationId }, 0);
      const waits: WaitFact[] = [];
      const facts = await held(line, clock, [{ kind: 'say', label: 'it', mulaw: tone(200) }], waits);
      line.close();
      return { facts, waits: waits.map(({ kind }) => kind) };
    }),
  );
  expect(calls).toMatchObject(
    [1, 2].map(() => ({ facts: { outcome: 'hung_up', replies: 2, failures: [], breaches: [] }, waits: ['first_audio', 'speech_reply'] })),
  );
  expect(sockets()).toBe(2);
  await until('both sockets are gone', () => pool.size === 0);
  expect(clock.pendingTimers).toBe(0);
});

it('W-14 each call has its own time until silence is reported', async () => {
  const { pool, clock } = await poolTo(async (socket) => {
    await welcome(socket, 100);
    await socket.next('NO_INPUT');
    socket.respond(ending('SESSION_END'));
  });
  const outcomes = [1000, 0].map(async (noInputMs) => {
    const line = pool.line({ ...PLAIN, conversationId: 'conversation-1' }, noInputMs);
    return (await held(line, clock, [{ kind: 'wait', waitMs: 30_000 }])).outcome;
  });
  expect(await Promise.all(outcomes)).toEqual(['ended', 'hung_up']);
});

it('W-31 what the server does wrong is counted by its rule', async () => {
  const { pool, clock } = await poolTo(async (socket) => {
    await socket.next('SESSION_START');
    socket.respond(chunk(10));
    socket.respond(final());
  });
  const line = pool.line({ ...PLAIN, conversationId: 'conversation-1' }, 0);
  const facts = await held(line, clock, []);
  expect(facts.breaches).toEqual(['W-31']);
});
