// Servers that speak HTTP/2 and break gRPC, each in one way: a call to any of them ends with a named finding in time.
import { createServer, constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { placeCall, type CallOptions, type CallResult } from '../../../../src/fake-platform/caller/caller.ts';
import { callScripted, wavReply } from '../../../support/call-lab.ts';
import { CountedClock } from '../../../support/counted-clock.ts';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function call(target: string, more: Partial<CallOptions> = {}): Promise<CallResult> {
  const clock = new CountedClock(scaledClock(20));
  // At this pace a minute is three seconds: only a hang takes as long.
  const limits = { connectMs: 60_000, answerMs: 60_000, callMs: 120_000, hangUpMs: 60_000 };
  const result = await placeCall({ target, profile: loadProfile('fake'), organizationId: 'o-1', clock, limits, ...more });
  expect(clock.pendingTimers).toBe(0);
  return result;
}

/** A server that does this with every request. */
async function broken(respond: (stream: ServerHttp2Stream) => void): Promise<string> {
  const server: Http2Server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.resume();
    respond(stream);
  });
  closers.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // A server that listens on TCP has an address of this shape.
  return `grpc://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };

/** A gRPC frame that claims to be so long. */
function frame(bytes: Uint8Array, length = bytes.length, flag = 0): Uint8Array {
  const whole = new Uint8Array(5 + bytes.length);
  whole[0] = flag;
  new DataView(whole.buffer).setUint32(1, length);
  whole.set(bytes, 5);
  return whole;
}

/** A server that sends these bytes as its answer and says that all is well. */
function answering(bytes: Uint8Array): (stream: ServerHttp2Stream) => void {
  return (stream) => {
    stream.respond(GRPC, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'grpc-status': '0' });
    });
    stream.end(bytes);
  };
}

describe('a server of HTTP/2', () => {
  it.each<[string, string, (stream: ServerHttp2Stream) => void]>([
    ['never answers', 'no_answer', () => undefined],
    [
      'sends its headers and no more',
      'no_answer',
      (stream) => {
        stream.respond(GRPC);
      },
    ],
    [
      'ends without a status',
      'closed_early',
      (stream) => {
        stream.respond(GRPC);
        stream.end();
      },
    ],
    [
      'refuses the stream',
      'overloaded',
      (stream) => {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
      },
    ],
    [
      'resets the stream in the middle of an answer',
      'closed_early',
      (stream) => {
        stream.respond(GRPC);
        stream.write(frame(new Uint8Array(10), 100));
        setImmediate(() => {
          stream.close(constants.NGHTTP2_INTERNAL_ERROR);
        });
      },
    ],
    [
      'destroys the connection',
      'closed_early',
      (stream) => {
        stream.session?.destroy();
      },
    ],
    [
      'answers as a web server',
      'not_served',
      (stream) => {
        stream.respond({ ':status': 404, 'content-type': 'text/html' });
        stream.end('<h1>not here</h1>');
      },
    ],
    [
      'answers as a proxy whose server is gone',
      'garbage',
      (stream) => {
        stream.respond({ ':status': 502, 'content-type': 'text/html' });
        stream.end('<h1>bad gateway</h1>');
      },
    ],
    ['sends a message that is no message', 'garbage', answering(frame(Uint8Array.of(0x0a, 0xff, 0xff, 0xff)))],
    ['sends a message larger than any', 'garbage', answering(frame(new Uint8Array(10), 100 * 1024 * 1024))],
    ['says that it compresses, and does not', 'garbage', answering(frame(new Uint8Array(10), 10, 1))],
  ])('that %s', async (_, code, respond) => {
    const limits = { connectMs: 60_000, answerMs: code === 'no_answer' ? 4000 : 60_000 };
    const result = await call(await broken(respond), { limits });
    expect(result).toMatchObject({ ok: false, outcome: 'failed' });
    expect(result.findings.filter(({ fatal }) => fatal).map((finding) => finding.code)).toEqual([code]);
    expect(result.findings[0]?.message).not.toMatch(/\n| at .*\.js/u);
  });
});

describe('a port that accepts and says nothing', () => {
  async function silent(): Promise<string> {
    const server = createTcpServer();
    closers.push(() => server.close());
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    // A server that listens on TCP has an address of this shape.
    return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  it('is given up after the time for a connection, with TLS', async () => {
    const { findings } = await call(await silent(), { limits: { connectMs: 4000 } });
    expect(findings.map(({ code }) => code)).toEqual(['connect_timeout']);
  });

  it('is not waited for when the call is interrupted', async () => {
    const stop = new AbortController();
    const result = call(`grpc://${await silent()}`, { signal: stop.signal });
    setImmediate(() => {
      stop.abort();
    });
    expect(await result).toMatchObject({ outcome: 'interrupted', ok: false, findings: [] });
  });
});

describe('a server that goes on when it is over', () => {
  it('answers SESSION_END with a prompt', async () => {
    const { result } = await callScripted(async (turn) => {
      await turn.halfClosed();
      turn.send(wavReply(100));
      turn.complete();
    });
    expect(result.outcome).toBe('hung_up');
    expect(result.findings.map(({ rule, code }) => `${rule ?? ''} ${code}`)).toContain('G-75 answer_after_hang_up');
  });

  it('never stops talking: the call ends at its limit, and what it said is bounded', async () => {
    const { result } = await callScripted(
      async (turn) => {
        await turn.halfClosed();
        if (turn.number > 1) {
          turn.complete();
          return;
        }
        for (let number = 0; !turn.isCancelled; number += 1) {
          turn.send({
            response_type: 2,
            prompts: Array.from({ length: 50 }, (_, place) => ({ text: `word ${String(number)}.${String(place)}` })),
          });
          if (number % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
      },
      { limits: { callMs: 30_000 } },
    );
    expect(result.outcome).toBe('failed');
    expect(result.findings.find(({ fatal }) => fatal)?.code).toBe('call_limit');
    // A busy machine may not get that far in this time; without a bound it would be thousands.
    expect(result.replies[0]?.texts.length).toBeGreaterThan(0);
    expect(result.replies[0]?.texts.length).toBeLessThanOrEqual(500);
  });
});
