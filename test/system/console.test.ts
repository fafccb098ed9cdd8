// The server's own page in Chromium, over two servers that share Redis: signing in, the calls of both, one call, what axe finds.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Overview } from '../../src/ops/console-api.ts';
import { seriousFindings } from '../support/axe.ts';
import { CHROMIUM_NEEDS, startChromium } from '../support/chromium.ts';
import { requireDebian } from '../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const VIEW = 'view-token-of-thirty-two-characters';
const LISTEN = 'listen-token-of-thirty-two-characters';
const KEY = 'ab'.repeat(32);
const folder = mkdtempSync(path.join(tmpdir(), 'parley-console-'));
const isReady = requireDebian({
  commands: REDIS_NEEDS.commands ?? [],
  ...{ files: CHROMIUM_NEEDS.files ?? [], packages: [...REDIS_NEEDS.packages, ...CHROMIUM_NEEDS.packages] },
});

let redis: RedisServer;
let browser: Browser;
const servers: RunningServer[] = [];
const ids: string[] = [];

beforeAll(async () => {
  if (!isReady) return;
  redis = await RedisServer.start();
  const shared = [
    'kind=redis',
    `redis.url=${redis.url}`,
    `keys=["${randomBytes(32).toString('hex')}"]`,
    `redis.key_prefix=test-${randomUUID()}`,
  ];
  const flags = [
    ...WITH_TEST_BOTS,
    ...shared.map((each) => `--store.${each}`),
    '--shutdown.notice_ms=0',
    `--ops.console.view_token=${VIEW}`,
    `--ops.console.listen_token=${LISTEN}`,
  ];
  flags.push(...['enabled=true', `folder=${folder}`, `keys=["${KEY}"]`].map((each) => `--recordings.${each}`));
  for (let started = 0; started < 2; started += 1) {
    const server = await RunningServer.start({ flags });
    servers.push(server);
    const call = (await server.client()).call();
    await call.turn(event('SESSION_START'));
    await call.turn(event('SESSION_END'));
    ids.push(call.ids.conversationId);
  }
  browser = await startChromium();
  await until('the first server knows the second one', async () => (await api<Overview>('overview')).servers.length === 2);
});
afterAll(async () => {
  if (!isReady) return;
  await browser.close();
  for (const server of [...servers].reverse()) await server.close();
  await redis.stop();
  rmSync(folder, { recursive: true });
});

function address(): string {
  return `http://127.0.0.1:${String(servers[0]?.app.ready.opsPort)}`;
}

async function api<Answer>(path: string): Promise<Answer> {
  const response = await fetch(`${address()}/api/${path}`, { headers: { authorization: `Bearer ${VIEW}` } });
  return (await response.json()) as Answer;
}

/** A page that asks nobody but its server, and the errors in it. */
async function open(
  options: Parameters<Browser['newContext']>[0] = {},
  token = VIEW,
): Promise<{ readonly page: Page; readonly errors: string[] }> {
  const page = await (await browser.newContext(options)).newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(address()) && !request.url().startsWith('data:')) errors.push(request.url());
  });
  await page.goto(`${address()}/console/`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  return { page, errors };
}

describe('the page of a server', () => {
  it('asks for a token, and says when it is none', async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${address()}/console/`);
    await page.getByLabel('Token').fill('no token');
    await page.keyboard.press('Enter');
    await page.getByText('This is no token of this server.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().close();
  });

  it('shows the calls of all servers, finds one of the other server, and opens it by keys', async () => {
    const { page, errors } = await open();
    const link = (id: string) => page.getByRole('link', { name: id });
    await Promise.all(ids.map((id) => link(id).waitFor()));
    const [first = '', second = ''] = ids;
    await page.getByLabel('Call id').fill(second);
    await link(first).waitFor({ state: 'detached' });
    await link(second).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Turn 1').first().waitFor();
    expect(await page.getByRole('main').innerText()).toContain(second);
    await page.getByRole('link', { name: 'All calls' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('plays a recorded call of another server to the role listen', async () => {
    const { page, errors } = await open({}, LISTEN);
    const [, second = ''] = ids;
    await page.getByRole('link', { name: second }).click();
    const heard = page.waitForResponse((response) => response.url().endsWith('/sound/bot') && response.ok());
    await page.getByRole('button', { name: 'Play' }).click();
    await heard;
    expect(servers[0]?.logged({ event: 'console_audit', what: 'sound_heard' })).toContainEqual(
      expect.objectContaining({ who: 'listen token', conversationId: second, outcome: 'shown' }),
    );
    expect(errors).toEqual([]);
    await page.context().close();
  });

  // Whatever does not fit does not fit a narrow page; of colours, all pages have the same.
  it.each([
    ['light', 1280, ['Calls', 'Traffic']],
    ['dark', 380, ['Calls', 'Traffic', 'Organizations', 'Data sources', 'Services', 'Servers']],
  ] as const)('has nothing serious for axe, %s and %i pixels wide, and fits', async (colorScheme, width, names) => {
    const { page, errors } = await open({ colorScheme, viewport: { width, height: 800 } });
    for (const name of names) {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.getByText('Asking the servers').waitFor({ state: 'detached' });
      expect(await seriousFindings(page), name).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name} fits`).toBe(true);
    }
    if (names.at(-1) === 'Servers') expect(await page.getByRole('row').count()).toBe(3);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('names a server that does not answer, and says so when nobody does', async () => {
    const { page } = await open();
    await page.getByText('2 calls').waitFor();
    const silent = [{ id: 'gone', address: '10.0.0.9:4711', isDraining: true }];
    await page.route('**/api/overview', async (route) => {
      const overview = (await (await route.fetch()).json()) as Overview;
      await route.fulfill({ json: { ...overview, silent } satisfies Overview });
    });
    await page.getByText('One server does not answer, and what is known there is missing: 10.0.0.9:4711').waitFor();
    await page.route('**/api/**', (route) => route.abort());
    await page.getByRole('alert').getByText('The server does not answer.').waitFor();
    await page.context().close();
  });
});
