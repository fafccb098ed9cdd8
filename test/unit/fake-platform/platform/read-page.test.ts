// What answers the fake platform's own requests may be any program: nothing of it is unbounded.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { sendRequest } from '../../../../src/base/http-send.ts';
import { agreeInBrowser } from '../../../../src/fake-platform/platform/browser.ts';
import { readPage } from '../../../../src/fake-platform/platform/read-page.ts';

const server = createServer();
afterEach(() => {
  server.removeAllListeners('request').closeAllConnections();
  server.close();
});

async function served(listener: RequestListener): Promise<string> {
  server.on('request', listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

const { signal } = new AbortController();

describe('a page', () => {
  const read = (url: string, firstByteMs: number) =>
    readPage(
      { clock: systemClock, send: sendRequest, limits: { firstByteMs, maxAnswerBytes: 100 } },
      { method: 'GET', url, headers: {}, body: undefined },
      signal,
    );

  it('is read whole, whatever its status', async () => {
    const url = await served((_, answer) => answer.writeHead(404, { location: '/there' }).end('not here'));
    const { status, headers, text } = await read(url, 5000);
    expect([status, headers.get('location'), text]).toEqual([404, '/there', 'not here']);
  });

  it('is given up when it is larger than it may be', async () => {
    const url = await served((_, answer) => answer.end('x'.repeat(101)));
    await expect(read(url, 5000)).rejects.toMatchObject({ outcome: 'bad_answer' });
  });

  it('is given up when it does not come to its end', async () => {
    const url = await served((_, answer) => answer.write('x'));
    await expect(read(url, 50)).rejects.toMatchObject({ outcome: 'timeout' });
  });
});

it('the browser gives a page up that is no page of a login but a large file', async () => {
  const url = await served((_, answer) => answer.end('x'.repeat(100_001)));
  await expect(agreeInBrowser(url, signal)).rejects.toThrow('the page of the login');
});
