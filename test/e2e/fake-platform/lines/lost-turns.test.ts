// Calls whose server dies in the middle of a turn, over real connections and with real processes, alone and on connections that calls share: the
// call goes on at another server when that is asked for, and whatever HTTP/2 calls no failure is none.
import { createServer, constants, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import { loadContract } from '../../../../src/contract/grpc.ts';
import { holdCall, placeCall, type CallResult, type HeldCallOptions } from '../../../../src/fake-platform/caller/caller.ts';
import { ConnectionPool } from '../../../../src/fake-platform/load/connection-pool.ts';
import { framed } from '../../../../src/fake-platform/lines/grpc-framing.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { parseTarget } from '../../../../src/fake-platform/lines/target.ts';
import { chunk, hear, otherwise, tone, wavReply } from '../../../support/call-lab.ts';
import { CountedClock } from '../../../support/counted-clock.ts';
import { startRelay, type Relay } from '../../../support/relay.ts';
import {
  isSpeech,
  startScriptedServer,
  type ScriptedServer,
  type ScriptedTurn,
  type TurnScript,
} from '../../../support/scripted-server.ts';
import { startSmallServer } from '../../../support/small-server.ts';
import { until } from '../../../support/until.ts';

const PACE = 10;
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const LIMITS = { callMs: 400_000, connectMs: 60_000, answerMs: 60_000, hangUpMs: 60_000 };

function alone(target: string, clock: CountedClock, options: HeldCallOptions): Promise<CallResult> {
  return placeCall({ target, profile: loadProfile('fake'), organizationId: 'o-1', clock, limits: LIMITS, ...options });
}

async function shared(target: string, clock: CountedClock, options: HeldCallOptions): Promise<CallResult> {
  const pool = new ConnectionPool(
    { target: parseTarget(target), profile: loadProfile('fake'), clock, connectLimitMs: LIMITS.connectMs },
    10,
  );
  const line = pool.line({ conversationId: 'c-1', organizationId: 'o-1', agentId: '', vendorConfig: '', allowPartial: false });
  const result = await holdCall(line, 'the server', { clock, limits: LIMITS, ...options });
  line.close();
  pool.close();
  return result;
}

type Call = (target: string, options?: HeldCallOptions) => Promise<CallResult>;

/** Afterwards no timer is left. */
function counted(place: typeof alone): Call {
  return async (target, options = {}) => {
    const clock = new CountedClock(scaledClock(PACE));
    const result = await place(target, clock, options);
    expect(clock.pendingTimers).toBe(0);
    return result;
  };
}

const CLIENTS: readonly (readonly [string, Call])[] = [
  ['of one call', counted(alone)],
  ['of a load', counted(shared)],
];

async function started(script: TurnScript): Promise<ScriptedServer> {
  const server = await startScriptedServer({ script });
  closers.push(() => {
    server.close();
  });
  return server;
}

async function relayTo(port: number): Promise<Relay> {
  const relay = await startRelay(port);
  closers.push(() => {
    relay.close();
  });
  return relay;
}

function nameOf(turn: ScriptedTurn, server: ScriptedServer): string {
  return server.exchange.find((line) => line.startsWith(`RPC${String(turn.number)} > `))?.split(' > ')[1] ?? '';
}

/** Two servers: on the first, `dies` says whether it has lost its turn; what it loses, the second one gets. */
async function pairOf(
  first: (turn: ScriptedTurn, name: string) => Promise<boolean>,
): Promise<{ readonly relay: Relay; readonly second: ScriptedServer }> {
  const welcomes: TurnScript = async (turn) => {
    await turn.until(({ received, isHalfClosed }) => received.length > 0 || isHalfClosed);
    const name = nameOf(turn, second);
    if (name === 'format' || name === 'silence') {
      await turn.until(({ received, isHalfClosed }) => isHalfClosed || received.some(({ message }) => isSpeech(message)));
      if (!turn.isHalfClosed) {
        await hear(turn, () => {
          turn.send(wavReply(200));
        });
      }
    } else {
      await turn.halfClosed();
      if (name.startsWith('dtmf_input') || name === 'SESSION_START') turn.send(wavReply(200));
    }
    turn.complete();
  };
  const second = await started(welcomes);
  const one: ScriptedServer = await started(async (turn) => {
    await turn.until(({ received, isHalfClosed }) => received.length > 0 || isHalfClosed);
    const name = nameOf(turn, one);
    if (await first(turn, name)) {
      relay.turnTo(second.port);
      relay.cut();
    } else if (name === 'SESSION_START') {
      await turn.halfClosed();
      turn.send(wavReply(200));
      turn.complete();
    } else await otherwise(turn);
  });
  const relay = await relayTo(one.port);
  return { relay, second };
}

describe.each(CLIENTS)('a server that dies in the middle of a turn, to the client %s', (_, call) => {
  it('has its keys sent to another one, and the call goes on', async () => {
    const { relay, second } = await pairOf(async (turn, name) => {
      if (!name.startsWith('dtmf_input')) return false;
      await turn.halfClosed();
      turn.send(chunk(3000));
      return true;
    });
    const result = await call(relay.target, { script: [{ kind: 'press', keys: ['1', '2', '3', '4'] }], repeatsLostTurns: true });
    expect(result.findings.filter(({ rule }) => rule === undefined)).toEqual([]);
    expect(result).toMatchObject({ outcome: 'hung_up', turnsRepeated: 1, turnsLost: 0 });
    expect(second.exchange.filter((line) => line.includes('> dtmf_input'))).toHaveLength(1);
    expect(result.replies.find(({ kind }) => kind === 'dtmf')).toMatchObject({ audioMs: 200 });
    expect(second.failures).toEqual([]);
  });

  it('has the whole utterance said to another one', async () => {
    const { relay, second } = await pairOf(async (turn, name) => {
      if (name !== 'format') return false;
      await turn.until(({ received }) => received.filter(({ message }) => isSpeech(message)).length >= 25);
      return true;
    });
    const result = await call(relay.target, { script: [{ kind: 'say', label: 'tone', mulaw: tone(1000) }], repeatsLostTurns: true });
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [], turnsRepeated: 1, turnsReopened: 0, turnsLost: 0 });
    expect(result.replies.map(({ kind }) => kind)).toEqual(['session_start', 'speech']);
    const frames = second.turns[0]?.received.filter(({ message }) => isSpeech(message)) ?? [];
    expect(frames).toHaveLength(50);
  });

  it('loses nothing with a caller who is silent', async () => {
    const { relay } = await pairOf(async (turn, name) => {
      if (name !== 'format') return false;
      await turn.until(({ received }) => received.length > 20);
      return true;
    });
    const result = await call(relay.target, { script: [{ kind: 'wait', waitMs: 10_000 }], repeatsLostTurns: true });
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [], turnsRepeated: 0, turnsReopened: 1, turnsLost: 0 });
  });

  it('fails the call when that is not asked for', async () => {
    const { relay } = await pairOf(async (turn, name) => {
      if (name !== 'SESSION_START') return false;
      await turn.halfClosed();
      return true;
    });
    const result = await call(relay.target);
    expect(result).toMatchObject({ outcome: 'failed', turnsRepeated: 0, turnsLost: 1 });
    expect(result.findings).toMatchObject([{ code: 'closed_early', fatal: true }]);
  });

  it('fails the call in bounded time when every other one dies, too', async () => {
    let cuts = 0;
    const dying = await started(async (turn) => {
      await turn.halfClosed();
      cuts += 1;
      relay.cut();
    });
    const relay = await relayTo(dying.port);
    const result = await call(relay.target, { repeatsLostTurns: true });
    expect(result).toMatchObject({ outcome: 'failed', turnsLost: 1 });
    expect(cuts).toBe(4);
  });
});

/** A call to a process that is stopped at one line of its timeline and killed at another, with one more behind the relay. */
async function callOfKilled(call: Call, stopAt: string, killAt: string, script: HeldCallOptions['script'] = []): Promise<CallResult> {
  const [first, second] = await Promise.all([startSmallServer(), startSmallServer()]);
  closers.push(() => {
    for (const { process: child } of [first, second]) child.kill('SIGKILL');
  });
  const portOf = (target: string): number => parseTarget(target).port;
  const relay = await relayTo(portOf(first.target));
  const result = await call(relay.target, {
    script,
    repeatsLostTurns: true,
    onEvent: ({ what }) => {
      if (what === stopAt) first.process.kill('SIGSTOP');
      if (what !== killAt) return;
      relay.turnTo(portOf(second.target));
      first.process.kill('SIGKILL');
    },
  });
  await until('the first process is gone', () => first.process.signalCode === 'SIGKILL');
  expect(relay.taken).toBe(2);
  return result;
}

describe.each(CLIENTS)('a process that is killed, to the client %s', (_, call) => {
  it('has its silent caller taken over by another one', async () => {
    const result = await callOfKilled(call, 'listens', 'listens', [{ kind: 'wait', waitMs: 20_000 }]);
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [], turnsRepeated: 0, turnsReopened: 1, turnsLost: 0 });
  });

  it('has what it did not answer said to another one', async () => {
    const result = await callOfKilled(call, 'presses', 'dtmf_start', [{ kind: 'press', keys: ['1'] }]);
    expect(result).toMatchObject({ outcome: 'hung_up', turnsRepeated: 1, turnsLost: 0 });
    // The small server answers no keys.
    expect(result.findings.map(({ code }) => code)).toEqual(['final_missing']);
  });
});

/** A server that welcomes and completes; what `first` does with a turn of its first connection, it does not do. */
async function bareServer(first: (turn: number, session: ServerHttp2Session, refuse: () => void) => boolean): Promise<string> {
  const { responseSerialize } = loadContract(loadProfile('fake')).media.definition.ProcessCallerInput;
  const welcome = framed(responseSerialize(wavReply(200)));
  let sessions = 0;
  let welcomed = false;
  const server = createServer();
  server.on('session', (session) => {
    sessions += 1;
    const isFirst = sessions === 1;
    let turns = 0;
    closers.push(() => {
      session.destroy();
    });
    session.on('stream', (stream) => {
      turns += 1;
      stream.on('error', () => undefined);
      stream.resume();
      const refuse = (): void => {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
      };
      if (isFirst && first(turns, session, refuse)) return;
      stream.on('end', () => {
        if (stream.destroyed) return;
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => {
          stream.sendTrailers({ 'grpc-status': '0' });
        });
        stream.end(welcomed ? undefined : welcome);
        welcomed = true;
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  // A server that listens on TCP has an address of this shape.
  return `grpc://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

describe.each(CLIENTS)('what no client of HTTP/2 takes for a failure, to the client %s', (_, call) => {
  it('is a stream that is refused', async () => {
    let refusals = 0;
    const target = await bareServer((turn, _session, refuse) => {
      if (turn !== 1) return false;
      refusals += 1;
      refuse();
      return true;
    });
    expect(await call(target)).toMatchObject({ outcome: 'hung_up', findings: [], turnsReopened: 1, turnsRepeated: 0 });
    expect(refusals).toBe(1);
  });

  it('is a connection that the server ends in good order, and a turn that it looks at no more', async () => {
    const target = await bareServer((turn, session) => {
      if (turn !== 2) return false;
      // The first stream is the last that it takes.
      session.goaway(constants.NGHTTP2_NO_ERROR, 1);
      return true;
    });
    const result = await call(target, { script: [{ kind: 'wait', waitMs: 10_000 }] });
    expect(result).toMatchObject({ outcome: 'hung_up', findings: [], turnsReopened: 1, turnsRepeated: 0, turnsLost: 0 });
  });
});
