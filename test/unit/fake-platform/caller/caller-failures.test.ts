import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { loadContract } from '../../../../src/contract/grpc.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import type { CallResult } from '../../../../src/fake-platform/caller/caller.ts';
import { failureOf } from '../../../../src/fake-platform/lines/failure.ts';
import { callScripted, chunk, tone, wavReply } from '../../../support/call-lab.ts';
import { testCertificate } from '../../../support/certificate.ts';
import { freePort } from '../../../support/free-port.ts';
import { patientCall } from '../../../support/patient-call.ts';
import { startScriptedServer, type TurnScript } from '../../../support/scripted-server.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listen(server: NetServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  // A server that listens on TCP has an address of this shape.
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** The one fatal finding of a call that failed. */
function failureOfCall(result: CallResult): string | undefined {
  expect(result).toMatchObject({ ok: false, outcome: 'failed' });
  const fatal = result.findings.filter((finding) => finding.fatal);
  expect(fatal).toHaveLength(1);
  expect(fatal[0]?.message).not.toContain('\n');
  return fatal[0]?.code;
}

describe('an address without a server of this contract', () => {
  it('is refused when nothing listens', async () => {
    expect(failureOfCall(await patientCall(`grpc://127.0.0.1:${String(await freePort())}`))).toBe('refused');
  });

  it('is unknown when the name has no address', async () => {
    expect(failureOfCall(await patientCall('grpc://nobody.invalid:50051'))).toBe('host_unknown');
  });

  it('times out when it accepts and says nothing', async () => {
    const address = await listen(createServer());
    expect(failureOfCall(await patientCall(`grpc://${address}`, { limits: { connectMs: 2000 } }))).toBe('connect_timeout');
  });

  it('closes early when it hangs up at once', async () => {
    const address = await listen(createServer((socket) => socket.destroy()));
    expect(failureOfCall(await patientCall(`grpc://${address}`))).toBe('closed_early');
  });

  it('speaks garbage when it is an HTTP/1 server or worse', async () => {
    const http = await listen(createHttpServer((_, response) => response.end('hello')));
    expect(failureOfCall(await patientCall(`grpc://${http}`))).toBe('garbage');
    const noise = await listen(createServer((socket) => socket.write('SSH-2.0-OpenSSH_9.2p1\r\n'.repeat(10))));
    expect(failureOfCall(await patientCall(`grpc://${noise}`))).toBe('garbage');
  });

  it('does not serve the method when it is another gRPC server', async () => {
    const server = new Server();
    const port = await bind(server);
    expect(failureOfCall(await patientCall(`grpc://127.0.0.1:${port}`))).toBe('not_served');
  });

  it('sends garbage when its messages cannot be read', async () => {
    const { path } = loadContract(loadProfile('fake')).media.definition.ProcessCallerInput;
    const raw = {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    } as const;
    const server = new Server();
    server.addService(
      { raw },
      {
        raw: (stream: ServerDuplexStream<Buffer, Buffer>) => {
          stream.on('data', () => undefined);
          stream.write(Buffer.from([0x0a, 0xff, 0xff, 0xff]));
          stream.end();
        },
      },
    );
    const port = await bind(server);
    expect(failureOfCall(await patientCall(`grpc://127.0.0.1:${port}`))).toBe('garbage');
  });
});

describe('TLS', () => {
  const welcome: TurnScript = async (turn) => {
    await turn.halfClosed();
    if (turn.number === 1) turn.send(wavReply(100));
    turn.complete();
  };

  it('holds a call by name, by address and under another name of the certificate', async () => {
    const tls = await testCertificate();
    const server = await startScriptedServer({ script: welcome, tls });
    closers.push(() => {
      server.close();
      tls.remove();
    });
    const certificateAuthority = Buffer.from(tls.certificatePem);
    expect((await patientCall(`localhost:${String(server.port)}`, { certificateAuthority })).outcome).toBe('hung_up');
    expect((await patientCall(`grpcs://127.0.0.1:${String(server.port)}`, { certificateAuthority })).outcome).toBe('hung_up');
    expect((await patientCall(`127.0.0.1:${String(server.port)}`, { certificateAuthority, serverName: 'localhost' })).outcome).toBe(
      'hung_up',
    );
  });

  it('fails with an authority that is not trusted, a name that is not there, and a server without TLS', async () => {
    const tls = await testCertificate();
    const server = await startScriptedServer({ script: welcome, tls });
    const plain = await startScriptedServer({ script: welcome });
    closers.push(() => {
      server.close();
      plain.close();
      tls.remove();
    });
    const certificateAuthority = Buffer.from(tls.certificatePem);
    expect(failureOfCall(await patientCall(`localhost:${String(server.port)}`))).toBe('tls_failed');
    expect(
      failureOfCall(await patientCall(`localhost:${String(server.port)}`, { certificateAuthority, serverName: 'other.example' })),
    ).toBe('tls_failed');
    expect(failureOfCall(await patientCall(`localhost:${String(plain.port)}`, { certificateAuthority }))).toBe('tls_failed');
    expect(failureOfCall(await patientCall(`grpc://localhost:${String(server.port)}`))).toBe('closed_early');
    expect(server.turns).toHaveLength(0);
  });
});

describe('a server that ends a turn badly', () => {
  it.each([
    [status.UNAUTHENTICATED, 'unauthenticated'],
    [status.PERMISSION_DENIED, 'forbidden'],
    [status.NOT_FOUND, 'agent_unknown'],
    [status.RESOURCE_EXHAUSTED, 'overloaded'],
    [status.INVALID_ARGUMENT, 'rpc_failed'],
    [status.INTERNAL, 'rpc_failed'],
    [status.UNAVAILABLE, 'rpc_failed'],
  ])('names status %i %s', async (code, expected) => {
    const { result } = await callScripted((turn) => {
      turn.fail(code, 'because\nof that');
    });
    expect(failureOfCall(result)).toBe(expected);
    expect(result.findings[0]?.message).toContain('because of that');
  });

  it('never answers', async () => {
    const { result, server } = await callScripted(() => undefined, { limits: { answerMs: 2000 } });
    expect(failureOfCall(result)).toBe('no_answer');
    expect(server.exchange).toContain('RPC1 > cancel');
    expect(server.exchange).toContain('RPC2 > SESSION_END');
  });

  it('vanishes in the middle of a prompt', async () => {
    const server = await startScriptedServer({
      script: async (turn) => {
        await turn.halfClosed();
        turn.send(chunk(5000));
      },
    });
    const result = await patientCall(server.target, {
      onEvent: ({ what }) => {
        if (what === 'prompt') server.close();
      },
    });
    expect(failureOfCall(result)).toBe('closed_early');
    expect(result.replies[0]).toMatchObject({ turn: 1, prompts: 1 });
  });

  it('vanishes while the caller speaks', async () => {
    const server = await startScriptedServer({
      script: async (turn) => {
        if (turn.number === 1) {
          await turn.halfClosed();
          turn.send(wavReply(100));
          turn.complete();
        } else {
          await turn.speech();
          server.close();
        }
      },
    });
    const result = await patientCall(server.target, { script: [{ kind: 'say', label: 'tone', mulaw: tone(3000) }] });
    expect(failureOfCall(result)).toBe('closed_early');
  });

  it('completes the session start without a word: a breach, and the call goes on', async () => {
    const { result } = await callScripted(async (turn) => {
      await turn.halfClosed();
      turn.complete();
    });
    expect(result.outcome).toBe('hung_up');
    expect(result.findings).toMatchObject([{ rule: 'G-21', code: 'final_missing', turn: 1, fatal: false }]);
  });

  it('answers SESSION_END only after the call is over, which nobody hears', async () => {
    const { result } = await callScripted(
      async (turn) => {
        await turn.halfClosed();
        if (turn.number === 3) {
          await new Promise<void>((resolve) => {
            closers.push(resolve);
          });
        }
        turn.send(wavReply(100));
        turn.complete();
      },
      { limits: { hangUpMs: 2000 } },
    );
    expect(result.outcome).toBe('hung_up');
    expect(result.findings).toMatchObject([{ code: 'not_completed', turn: 3, fatal: false }]);
    expect(result.timeline.at(-1)).toMatchObject({ who: 'platform', what: 'hung_up' });
  });
});

describe('a failure of the wire', () => {
  it('names a connection that is lost in the middle of a call', async () => {
    const server = await startScriptedServer({
      script: async (turn) => {
        await turn.halfClosed();
        turn.send(chunk(5000));
      },
    });
    const wires: Socket[] = [];
    const address = await listen(
      createServer((near) => {
        const far = connect(server.port, '127.0.0.1');
        far.on('error', () => undefined);
        wires.push(near, far);
        near.pipe(far).pipe(near);
      }),
    );
    const result = await patientCall(`grpc://${address}`, {
      onEvent: ({ what }) => {
        if (what === 'prompt') for (const wire of wires) wire.destroy();
      },
    });
    server.close();
    expect(failureOfCall(result)).toBe('closed_early');
  });

  it("leaves out what the library writes around the system's words", () => {
    const details = 'No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note:';
    expect(failureOf({ code: status.UNAVAILABLE, details }).message).toBe(
      'nothing listens at the address: is the server running? (UNAVAILABLE: connect ECONNREFUSED 127.0.0.1:1)',
    );
  });

  it('keeps what the other side said to one short line', () => {
    const { message } = failureOf({ code: status.INTERNAL, details: `\u001B[2J${'x'.repeat(5000)}\n` });
    expect(message.length).toBeLessThan(400);
    expect(message).not.toMatch(/\p{C}/u);
  });

  it('names a status that this library does not know', () => {
    expect(failureOf({ code: 99, details: '' })).toEqual({ code: 'rpc_failed', message: 'the server ended the turn with an error (99)' });
  });
});

function bind(server: Server): Promise<string> {
  closers.push(() => {
    server.forceShutdown();
  });
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(String(port));
      else reject(error);
    });
  });
}

function pass(bytes: Buffer): Buffer {
  return bytes;
}
