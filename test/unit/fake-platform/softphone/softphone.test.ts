// Who may use the softphone, and what it says to a page that asks for what is not possible.
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../../../src/base/clock.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { startSoftphone, type Softphone } from '../../../../src/fake-platform/softphone/softphone.ts';
import type { FromPage, ToPage } from '../../../../src/fake-platform/softphone/softphone-api.ts';

let phone: Softphone;
let port = 0;
beforeAll(async () => {
  phone = await startSoftphone({
    ...{ port: 0, clock: systemClock, modelsUrl: undefined },
    file: (path) => Promise.resolve(path === '/' ? { type: 'text/html', body: '<p>page</p>' } : undefined),
    // Nobody listens there.
    access: () => ({ target: 'grpc://127.0.0.1:1', profile: loadProfile('fake'), organizationId: 'laptop' }),
    voice: { speak: () => Promise.reject(new Error('no voice')), changeRate: (samples) => samples, close: () => Promise.resolve() },
    watch: () => ({ view: () => undefined, ended: () => undefined }),
    sound: (id, side) => (id === 'known' && side === 'bot' ? Uint8Array.of(1, 2) : undefined),
  });
  port = Number(new URL(phone.url).port);
});
afterAll(async () => {
  await phone.close();
});

/** Asks under any host name. */
async function asked(path: string, host = `127.0.0.1:${String(port)}`) {
  const [answer] = (await once(request({ port, path, headers: { host } }).end(), 'response')) as [IncomingMessage];
  answer.resume();
  return answer;
}

async function socketStatus(headers: Readonly<Record<string, string>>, path = '/call'): Promise<unknown> {
  const socket = new WebSocket(`ws://127.0.0.1:${String(port)}${path}`, { headers });
  const opened = await new Promise((resolve) => {
    socket.once('open', () => {
      resolve('open');
    });
    socket.once('error', (error) => {
      resolve(error.message);
    });
  });
  socket.close();
  return opened;
}

/** What a page is told that sends this and waits for the end. */
async function told(...messages: readonly (FromPage | string)[]): Promise<readonly ToPage[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${String(port)}/call`, { headers: { origin: `http://127.0.0.1:${String(port)}` } });
  const answers: ToPage[] = [];
  socket.on('message', (data) => {
    if (Buffer.isBuffer(data)) answers.push(JSON.parse(data.toString()) as ToPage);
  });
  await once(socket, 'open');
  for (const message of messages) socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  await once(socket, 'close');
  return answers;
}

const CALL = { type: 'call', agentId: 'echo', transport: 'grpc', line: 'good', again: false } as const;

describe('the softphone', () => {
  it('serves its page and sounds under its own names, and allows the page nothing from elsewhere', async () => {
    const page = await asked('/');
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html']);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/u);
    expect((await asked('/', `localhost:${String(port)}`)).statusCode).toBe(200);
    expect((await asked('/calls/known/bot.wav')).headers['content-type']).toBe('audio/wav');
    expect((await asked('/calls/unknown/bot.wav')).statusCode).toBe(404);
    expect((await asked('/secret')).statusCode).toBe(404);
  });

  it.each(['example.com', 'localhost', '127.0.0.1:1', '127.0.0.1.example.com'])('answers nothing under the name %s', async (host) => {
    expect((await asked('/', host)).statusCode).toBe(421);
  });

  it('lets no page of another site call', async () => {
    const own = `http://127.0.0.1:${String(port)}`;
    expect(await socketStatus({ origin: own })).toBe('open');
    expect(await socketStatus({ origin: own }, '/other')).toContain('403');
    expect(await socketStatus({ origin: 'https://example.com' })).toContain('403');
    expect(await socketStatus({})).toContain('403');
    expect(await socketStatus({ origin: `http://example.com:${String(port)}`, host: `example.com:${String(port)}` })).toContain('403');
  });

  it('says why a call does not come about', async () => {
    const answers = await told(CALL);
    expect(answers.at(-1)).toEqual({ type: 'over', outcome: 'failed' });
    expect(answers).toContainEqual(
      expect.objectContaining({ type: 'event', what: 'finds', detail: expect.stringContaining('refused') as string }),
    );
  });

  it('says what it does not know, and that there is nobody to call again', async () => {
    expect(await told('{"type":"dance"}', { ...CALL, again: true })).toEqual([
      { type: 'problem', message: 'the page sent something that the softphone does not know' },
      { type: 'over', outcome: 'refused', message: 'there is no call before this one' },
    ]);
  });
});
