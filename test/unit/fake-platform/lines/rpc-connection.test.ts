// Many calls on one connection, over real sockets: they are held as on a line of their own, and whatever goes wrong is a
// named finding.
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import net from 'node:net';
import { readFile } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { holdCall, type CallResult } from '../../../../src/fake-platform/caller/caller.ts';
import { ConnectionPool } from '../../../../src/fake-platform/load/connection-pool.ts';
import { MessageReader, framed } from '../../../../src/fake-platform/lines/grpc-framing.ts';
import { EVENT_INPUT } from '../../../../src/contract/numbers.ts';
import type { LineEnd } from '../../../../src/fake-platform/lines/line.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { parseTarget } from '../../../../src/fake-platform/lines/target.ts';
import { testCertificate } from '../../../support/certificate.ts';
import { tone, wavReply } from '../../../support/call-lab.ts';
import { freePort } from '../../../support/free-port.ts';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import { eventOnly, startScriptedServer, type TurnScript } from '../../../support/scripted-server.ts';
import { until } from '../../../support/until.ts';

const PACE = 10;
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function poolTo(
  target: string,
  more: { readonly certificateAuthority?: Uint8Array; readonly connectLimitMs?: number } = {},
): ConnectionPool {
  const options = { target: parseTarget(target), profile: loadProfile('fake'), clock: scaledClock(PACE), connectLimitMs: 60_000, ...more };
  const pool = new ConnectionPool({ ...options, token: 'a-token' }, 2);
  closers.push(() => {
    pool.close();
  });
  return pool;
}

async function call(pool: ConnectionPool, number = 1): Promise<CallResult> {
  const line = pool.line({
    conversationId: `c-${String(number)}`,
    organizationId: 'o-1',
    agentId: '',
    vendorConfig: '',
    allowPartial: false,
  });
  const result = await holdCall(line, 'the server', {
    clock: scaledClock(PACE),
    keepsSound: false,
    script: [{ kind: 'say', label: 'hello', mulaw: tone(500) }],
    limits: { answerMs: 60_000, callMs: 400_000, hangUpMs: 60_000 },
  });
  line.close();
  return result;
}

const talks: TurnScript = async (turn) => {
  if (turn.metadata.get('authorization')[0] !== 'a-token') {
    turn.fail(status.UNAUTHENTICATED, 'no token');
    return;
  }
  await turn.until(({ received, isHalfClosed }) => received.length > 0 || isHalfClosed);
  if (turn.received[0]?.message.event_input !== undefined) {
    await turn.halfClosed();
    // Ten seconds of sound: several frames of HTTP/2.
    if (turn.received[0].message.event_input.event_type === EVENT_INPUT.SESSION_START)
      turn.send(wavReply(10_000, {}, { is_barge_in_enabled: false }));
  } else {
    await turn.speech();
    turn.send(eventOnly('START_OF_INPUT'));
    await turn.silenceAfterSpeech();
    turn.send(eventOnly('END_OF_INPUT'));
    await turn.halfClosed();
    turn.send(wavReply(200, {}, { is_barge_in_enabled: false }));
  }
  turn.complete({ 'parley-prompt-text-bin': Buffer.from(JSON.stringify(['Said.'])) });
};

async function listens(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

describe('a connection shared by calls', () => {
  it('holds whole calls beside each other, a further connection when one is full, and takes texts from the trailers', async () => {
    const server = await startScriptedServer({ script: talks });
    closers.push(() => {
      server.close();
    });
    const pool = poolTo(server.target);
    const results = await Promise.all([1, 2, 3].map((number) => call(pool, number)));
    for (const { outcome, findings, replies, heardTexts } of results) {
      expect({ outcome, findings: findings.map(({ code }) => code) }).toEqual({ outcome: 'hung_up', findings: [] });
      expect(replies.map(({ kind }) => kind)).toEqual(['session_start', 'speech']);
      expect(replies[0]?.audioMs).toBe(10_000);
      expect(heardTexts.slice(0, 2)).toEqual(['Said.', 'Said.']);
    }
    expect(pool.size).toBe(2);
  });

  it('checks the certificate', async () => {
    const tls = await testCertificate();
    const server = await startScriptedServer({ script: talks, tls });
    closers.push(() => {
      server.close();
    });
    const [trusted, untrusted] = await Promise.all([
      call(poolTo(server.target, { certificateAuthority: await readFile(tls.certificateFile) })),
      call(poolTo(server.target)),
    ]);
    expect(trusted.outcome).toBe('hung_up');
    expect(untrusted.findings.map(({ code }) => code)).toEqual(['tls_failed']);
  });

  it('names a server that refuses each call, or breaks one off', async () => {
    const refusing = await startScriptedServer({
      script: (turn) => {
        turn.fail(status.RESOURCE_EXHAUSTED, 'no room: café');
      },
    });
    closers.push(() => {
      refusing.close();
    });
    const { findings } = await call(poolTo(refusing.target));
    expect(findings[0]).toMatchObject({ code: 'overloaded', message: expect.stringContaining('café') as string });
  });

  it('names a server that is not there, hangs, closes at once or speaks something else', async () => {
    const silent = net.createServer();
    const closing = net.createServer((socket) => socket.destroy());
    const foreign = net.createServer((socket) => socket.end('220 mail.example.org ESMTP\r\n'));
    const web = createServer((_, response) => {
      response.writeHead(404);
      response.end('nothing here');
    });
    const ports = await Promise.all([silent, closing, foreign, web].map(listens));
    const codes: unknown[] = [];
    for (const port of [await freePort(), ...ports]) {
      // Only the silent one is to run into it.
      const connectLimitMs = port === ports[0] ? 4000 : 40_000;
      const { findings } = await call(poolTo(`grpc://127.0.0.1:${String(port)}`, { connectLimitMs }));
      codes.push(findings[0]?.code);
    }
    expect(codes).toEqual(['refused', 'connect_timeout', 'closed_early', 'garbage', 'not_served']);
  });

  it.each<[string, string, (stream: ServerHttp2Stream) => void]>([
    [
      'refuses the stream',
      'overloaded',
      (stream) => {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
      },
    ],
    [
      'wants calm',
      'overloaded',
      (stream) => {
        stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      },
    ],
    [
      'breaks inside',
      'closed_early',
      (stream) => {
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      },
    ],
    ...(
      [
        [503, 'overloaded'],
        [429, 'overloaded'],
        [401, 'unauthenticated'],
        [403, 'forbidden'],
        [500, 'garbage'],
      ] as const
    ).map(([code, name]): [string, string, (stream: ServerHttp2Stream) => void] => [
      `answers with HTTP status ${String(code)}`,
      name,
      (stream) => {
        stream.respond({ ':status': code }, { endStream: true });
      },
    ]),
  ])('names what a server that %s means: %s', async (_, code, answer) => {
    const server = createServer();
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      answer(stream);
    });
    const { findings } = await call(poolTo(`grpc://127.0.0.1:${String(await listens(server))}`));
    expect(findings[0]?.code).toBe(code);
  });

  it('is used no more once it broke', async () => {
    const server = await startScriptedServer({ script: talks });
    const pool = poolTo(server.target);
    expect((await call(pool)).outcome).toBe('hung_up');
    server.close();
    await call(pool);
    // Dialled anew, or the connection that broke would still be blamed.
    expect((await call(pool)).findings.map(({ code }) => code)).toEqual(['refused']);
  });
});

/** A server that answers every turn without a word, and wants another connection with the second turn of each; the first waits. */
async function tiredServer(mayAnswerFirst: Promise<void>): Promise<{ readonly target: string; readonly sessions: () => number }> {
  let sessions = 0;
  const server = createServer();
  server.on('session', (session) => {
    sessions += 1;
    const isFirst = sessions === 1;
    let turns = 0;
    session.on('stream', (stream) => {
      turns += 1;
      if (turns === 2) session.goaway(constants.NGHTTP2_NO_ERROR);
      stream.resume();
      void (isFirst && turns === 1 ? mayAnswerFirst : Promise.resolve()).then(() => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => {
          stream.sendTrailers({ 'grpc-status': '0' });
        });
        stream.end();
      });
    });
  });
  return { target: `grpc://127.0.0.1:${String(await listens(server))}`, sessions: () => sessions };
}

describe('a connection that the server ends in good order', () => {
  it('carries the turns that are open to their end, and the next turns of its calls use another one', async () => {
    let answerFirst: () => void = () => undefined;
    const server = await tiredServer(
      new Promise((resolve) => {
        answerFirst = resolve;
      }),
    );
    const pool = poolTo(server.target);
    const line = pool.line({ conversationId: 'c-1', organizationId: 'o-1', agentId: '', vendorConfig: '', allowPartial: false });
    const turn = (): Promise<LineEnd> =>
      new Promise((resolve) => {
        line.open({ answered: () => undefined, ended: resolve }).halfClose();
      });
    const first = turn();
    const second = await turn();
    const third = await turn();
    answerFirst();
    const ends = [await first, second, third];
    line.close();
    expect(ends.map(({ kind }) => kind)).toEqual(['completed', 'completed', 'completed']);
    expect(server.sessions()).toBe(2);
    await until('a next call finds the old one empty and drops it', () => {
      pool.line({ conversationId: 'c-2', organizationId: 'o-1', agentId: '', vendorConfig: '', allowPartial: false }).close();
      return pool.size === 1;
    });
  });
});

describe('the framing of messages', () => {
  it('is read whatever pieces it comes in', () => {
    const messages = [Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(7000, 7)];
    const whole = Buffer.concat(messages.map(framed));
    for (const size of [1, 4, 5, 6, 1000, whole.length]) {
      const read: Buffer[] = [];
      const reader = new MessageReader((message) => read.push(Buffer.from(message)));
      for (let at = 0; at < whole.length; at += size) reader.push(whole.subarray(at, at + size));
      expect(read).toEqual(messages);
    }
  });

  it('refuses compression and absurd lengths', () => {
    const reader = () => new MessageReader(() => undefined);
    expect(() => {
      reader().push(Buffer.of(1, 0, 0, 0, 1, 0));
    }).toThrow('compressed');
    expect(() => {
      reader().push(Buffer.of(0, 255, 0, 0, 1, 0));
    }).toThrow('bytes');
  });
});
