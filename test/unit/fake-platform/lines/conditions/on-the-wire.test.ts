// Line conditions that reach down to the socket, over a real one.
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { loadContract, type MediaRequest, type MediaResponse } from '../../../../../src/contract/grpc.ts';
import { loadProfile } from '../../../../../src/contract/profile.ts';
import { placeCall, type CallResult } from '../../../../../src/fake-platform/caller/caller.ts';
import type { LineConditions } from '../../../../../src/fake-platform/lines/conditions/line-conditions.ts';
import { chunk, tone, wavReply } from '../../../../support/call-lab.ts';
import { testCertificate } from '../../../../support/certificate.ts';
import { CountedClock } from '../../../../support/counted-clock.ts';
import { scaledClock } from '../../../../../src/base/scaled-clock.ts';
import { listenFor, startScriptedServer, type ScriptedTurn, type TurnScript } from '../../../../support/scripted-server.ts';
import { until } from '../../../../support/until.ts';

const PACE = 20;
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function call(target: string, conditions: LineConditions, certificateAuthority?: Uint8Array): Promise<CallResult> {
  const clock = new CountedClock(scaledClock(PACE));
  const result = await placeCall({
    target,
    profile: loadProfile('fake'),
    organizationId: 'o-1',
    script: [{ kind: 'say', label: 'tone', mulaw: tone(60_000) }],
    conditions,
    clock,
    limits: { connectMs: 60_000, answerMs: 60_000, callMs: 200_000, hangUpMs: 60_000 },
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
  });
  expect(clock.pendingTimers).toBe(0);
  return result;
}

describe('the loss of the connection', () => {
  const welcome: TurnScript = async (turn) => {
    if (turn.number > 1) return;
    await turn.halfClosed();
    turn.send(wavReply(100));
    turn.complete();
  };

  it.each(['without', 'with'])('reaches the server as a broken connection, %s TLS: no hang-up, nothing more', async (kind) => {
    const tls = kind === 'with' ? await testCertificate() : undefined;
    const server = await startScriptedServer({ script: welcome, ...(tls === undefined ? {} : { tls }) });
    closers.push(() => {
      server.close();
      tls?.remove();
    });
    const result = await call(server.target, { loseAfterMs: 10_000 }, tls === undefined ? undefined : Buffer.from(tls.certificatePem));
    expect(result).toMatchObject({ outcome: 'lost', findings: [] });
    // On a slow machine the loss may come before the ear.
    const isOver = ({ number, isCancelled }: ScriptedTurn): boolean =>
      isCancelled || server.exchange.includes(`RPC${String(number)} < complete`);
    await until('the server has lost the call', () => server.turns.length > 0 && server.turns.every(isOver));
    expect(server.exchange.filter((line) => line.includes('SESSION_END'))).toEqual([]);
    expect(server.turns.length).toBeLessThanOrEqual(2);
  });
});

describe('a slow reader', () => {
  const CHUNKS = 20;

  /** A server that streams one long reply, and how long it had to wait for its slowest write, real ms. */
  async function slowestWrite(
    conditions: LineConditions,
    lostAfterMs: number,
  ): Promise<{ readonly result: CallResult; readonly waitedMs: number }> {
    const { media } = loadContract(loadProfile('fake'));
    let waitedMs = 0;
    const server = new Server();
    server.addService(media.definition, {
      ListVirtualAgents: () => undefined,
      ProcessCallerInput: (stream: ServerDuplexStream<MediaRequest, MediaResponse>) => {
        stream.on('data', () => undefined);
        stream.on('error', () => undefined);
        const write = (left: number): void => {
          const fromMs = performance.now();
          if (left === 0) stream.write(listenFor(), () => stream.end());
          else {
            stream.write(chunk(1000), () => {
              waitedMs = Math.max(waitedMs, performance.now() - fromMs);
              write(left - 1);
            });
          }
        };
        stream.once('end', () => {
          write(CHUNKS);
        });
      },
    });
    closers.push(() => {
      server.forceShutdown();
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    const result = await call(`grpc://127.0.0.1:${String(port)}`, { ...conditions, loseAfterMs: lostAfterMs });
    return { result, waitedMs };
  }

  it('lets a server wait with a reply of 20 seconds after two of them, and loses none of it', async () => {
    const { result, waitedMs } = await slowestWrite({ slowReader: { pauseMs: 20_000 } }, 40_000);
    expect(waitedMs).toBeGreaterThan(800);
    expect(result.replies[0]).toMatchObject({ turn: 1, audioMs: CHUNKS * 1000 });
    // The caller heard what was read before the pause, and then nothing until its end.
    expect(result.replies[0]?.maxGapMs).toBeGreaterThan(10_000);
  });

  it('makes no server wait when there is none', async () => {
    const { result, waitedMs } = await slowestWrite({}, 15_000);
    expect(waitedMs).toBeLessThan(800);
    expect(result.replies[0]).toMatchObject({ audioMs: CHUNKS * 1000 });
  });
});
