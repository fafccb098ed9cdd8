// Who may use the softphone, and what it says to a page that asks for what is not possible.
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../../../src/base/clock.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { startSoftphone, type Softphone, type SoftphoneOptions } from '../../../../src/fake-platform/softphone/softphone.ts';
import { pcmWav } from '../../../../src/speech/wav.ts';
import type { FromPage, ToPage } from '../../../../src/fake-platform/softphone/softphone-api.ts';

const OPTIONS: SoftphoneOptions = {
  ...{ port: 0, clock: systemClock, modelsUrl: undefined },
  file: (path) => Promise.resolve(path === '/' ? { type: 'text/html', body: '<p>page</p>' } : undefined),
  // Nobody listens there.
  access: () => ({ target: 'grpc://127.0.0.1:1', profile: loadProfile('fake'), organizationId: 'laptop' }),
  voice: { speak: () => Promise.reject(new Error('no voice')), changeRate: (samples) => samples, close: () => Promise.resolve() },
  checkBots: () => Promise.resolve(undefined),
  watch: () => ({ view: () => undefined, ended: () => undefined }),
  sound: (id, side) => (id === 'known' && side === 'bot' ? Uint8Array.of(1, 2) : undefined),
};
let phone: Softphone;
let port = 0;
beforeAll(async () => {
  phone = await startSoftphone(OPTIONS);
  port = Number(new URL(phone.url).port);
});
afterAll(async () => {
  await phone.close();
});

/** Asks under any host name. */
async function asked(path: string, host = `127.0.0.1:${String(port)}`, more: Readonly<Record<string, string>> = {}) {
  const [answer] = (await once(request({ port, path, headers: { host, ...more } }).end(), 'response')) as [IncomingMessage];
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

/** A page that is about to call, and what it is told. */
async function openPage({ url }: Softphone = phone) {
  const { host, origin } = new URL(url);
  const socket = new WebSocket(`ws://${host}/call`, { headers: { origin } });
  const answers: ToPage[] = [];
  socket.on('message', (data) => {
    if (Buffer.isBuffer(data)) answers.push(JSON.parse(data.toString()) as ToPage);
  });
  await once(socket, 'open');
  return { socket, answers };
}

/** What a page is told that sends this and waits for the end. */
async function told(...messages: readonly (FromPage | string | Uint8Array)[]): Promise<readonly ToPage[]> {
  const { socket, answers } = await openPage();
  for (const message of messages)
    socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message));
  await once(socket, 'close');
  return answers;
}

const CALL = { type: 'call', agentId: 'echo', transport: 'grpc', line: 'good' } as const;
const AGAIN = { ...CALL, again: 'unknown' } as const;

describe('the softphone', () => {
  it('serves its page and sounds under its own names, and allows the page nothing from elsewhere', async () => {
    const page = await asked('/');
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html']);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/u);
    expect((await asked('/', `localhost:${String(port)}`)).statusCode).toBe(200);
    expect((await asked('/calls/known/bot.wav')).headers['content-type']).toBe('audio/wav');
    // Browsers seek in nothing else.
    expect((await asked('/calls/known/bot.wav', undefined, { range: 'bytes=1-' })).headers['content-range']).toBe('bytes 1-1/2');
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

  it('says why a call does not come about, and no bot is listed', async () => {
    const answers = await told(CALL);
    const why = expect.stringContaining('nothing listens at the address') as string;
    expect(answers).toContainEqual(expect.objectContaining({ type: 'event', what: 'finds', detail: why }));
    expect(answers.at(-1)).toEqual({ type: 'over', outcome: 'failed', message: why });
    expect(await (await fetch(`${phone.url}choices`)).json()).toMatchObject({ bots: [], problem: why });
  });

  it('says what it does not know, and that there is nobody to call again', async () => {
    expect(await told('{"type":"dance"}', AGAIN)).toEqual([
      { type: 'problem', message: 'the page sent something that the softphone does not know' },
      { type: 'over', outcome: 'refused', message: 'the caller of that call is not known any more: call anew' },
    ]);
  });

  it('says why a file cannot be spoken', async () => {
    const wav = pcmWav([Int16Array.of(1, 2)], 8000);
    const asFloats = wav.map((byte, at) => (at === 20 ? 3 : byte));
    const [text, floats, short, silent] = await told(
      Buffer.from('words'),
      asFloats,
      wav.subarray(0, -1),
      pcmWav([new Int16Array()], 8000),
      AGAIN,
    );
    expect(text).toMatchObject({ type: 'problem', message: 'only a WAV file can be spoken' });
    expect(floats).toMatchObject({ message: expect.stringContaining('its format 3 with 16 bits is not one of') as string });
    expect(short).toMatchObject({ message: expect.stringContaining('it ends before its last sample') as string });
    expect(silent).toMatchObject({ message: 'there is no sound in it' });
  });

  it('takes four pages at once, and closes although they have not called yet', async () => {
    const other = await startSoftphone(OPTIONS);
    for (let page = 0; page < 4; page += 1) await openPage(other);
    const { socket, answers } = await openPage(other);
    if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close');
    expect(answers).toEqual([{ type: 'over', outcome: 'refused', message: '4 calls go on already: hang up one of them' }]);
    await other.close();
  });
});
