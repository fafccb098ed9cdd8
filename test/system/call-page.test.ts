// The view of a call in Chromium, as the one file that `parley calls export --html` writes: from a folder, with the network off.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallView } from '../../src/dialog/call-view.ts';
import { callPage } from '../../src/recording/call-page.ts';
import { seriousFindings } from '../support/axe.ts';
import { longCallView, shortCallView } from '../support/call-views.ts';
import { CHROMIUM_NEEDS, startChromium } from '../support/chromium.ts';
import { requireDebian } from '../support/debian.ts';
import { until } from '../support/until.ts';

const hasChromium = requireDebian(CHROMIUM_NEEDS);
const PAGE_LIMIT_MS = 20_000;

let browser: Browser | undefined;
let folder = '';
let page: Page;
/** What the page asked for and complained about. */
let requests: string[] = [];
let complaints: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'parley-call-page-'));
  if (hasChromium) browser = await startChromium();
});
afterEach(async () => {
  await page.context().close();
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(view: CallView, options: Parameters<Browser['newContext']>[0] = {}): Promise<void> {
  if (browser === undefined) throw new Error('there is no Chromium');
  const file = path.join(folder, 'call.html');
  await writeFile(file, await callPage(view));
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PAGE_LIMIT_MS);
  await context.setOffline(true);
  page = await context.newPage();
  [requests, complaints] = [[], []];
  page.on('request', (request) => requests.push(request.url().slice(0, 40)));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(pathToFileURL(file).href);
  await row('Turn 1').waitFor();
}

function rows(): Locator {
  return page.getByRole('listbox').getByRole('option');
}

function row(words: string): Locator {
  return page.getByRole('listbox').getByRole('option', { name: words }).first();
}

function details(): Promise<string> {
  return page.getByRole('region', { name: 'Details' }).innerText();
}

/** Chooses a turn and returns what is said of it. */
async function turn(number: number): Promise<string> {
  await page.getByRole('combobox').selectOption('turn');
  await row(`Turn ${String(number)} `).click();
  return details();
}

describe('the file of a call', () => {
  it('asks for nothing, breaks no policy of its own, and plays the sound', async () => {
    await open(shortCallView());
    const play = page.getByRole('button', { name: 'Play' });
    await play.click();
    await until('the playhead has moved', async () => Number(await slider().getAttribute('aria-valuenow')) > 400);
    await page.getByRole('button', { name: 'Pause' }).click();
    await play.waitFor();
    expect(requests.filter((url) => !url.startsWith('blob:'))).toEqual([expect.stringMatching(/^file:/u)]);
    expect(complaints).toEqual([]);
  });

  it('says that sound which is none cannot be played, and stays where it is', async () => {
    const track = { peaks: '', href: `data:audio/wav;base64,${Buffer.from('no sound').toString('base64')}` };
    await open({ ...shortCallView(), sound: { caller: track } });
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('alert').waitFor();
    expect(await slider().getAttribute('aria-valuenow')).toBe('0');
  });

  it('shows what was heard and what not, where the time went, and how the state changed', async () => {
    await open(shortCallView(), { viewport: { width: 1280, height: 900 } });
    const third = await turn(3);
    expect(third).toContain('keys, withheld');
    expect(third).toContain('Answer after 1,980 ms, the longest part: tools, 1,140 ms.');
    for (const part of ['endpointing', 'recognition', 'bot', 'model', 'tools', 'synthesis', 'engine', 'wire'])
      expect(third).toContain(part);
    expect(third).toMatch(/Barge-in by speech[\s\S]*heard for 2,800 ms: “Thank you\.[\s\S]*not heard: “or Thursday/u);
    expect(third).toMatch(/step\s+−\s+before:\s+"identify"\s+\+\s+after:\s+"choose"/u);
    expect(third).toContain('the bookings service answered after 900 ms');
    // Nothing stands below the page.
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0);
    expect(await turn(5)).toMatch(/bot failed\s+Cannot read properties of undefined[\s\S]*bots\/front-desk\.ts:118:31/u);
    expect(await turn(2)).toContain('I would like to move my…');
  });

  it('shows a finding of the contract check with its message, and finds rows by their words', async () => {
    await open(shortCallView());
    await page.getByRole('combobox').selectOption('problem');
    await row('G-44').click();
    expect(await details()).toMatch(/message: VoiceVAResponse[\s\S]*server to platform[\s\S]*G-44 input settings stand on a message/u);
    await page.getByRole('combobox').selectOption('all');
    await page.getByRole('searchbox').fill('find_slots');
    expect(await rows().count()).toBe(2);
  });

  it('is used with the keyboard alone', async () => {
    await open(shortCallView());
    await slider().focus();
    await page.keyboard.press('ArrowRight');
    expect(await slider().getAttribute('aria-valuetext')).toBe('0:01.000 of 0:42.000, turn 1');
    await page.keyboard.press('End');
    await page.getByRole('listbox').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    const chosen = page.locator('[aria-selected=true]');
    expect(await chosen.getAttribute('aria-posinset')).toBe('2');
    expect(await page.getByRole('listbox').getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'));
  });

  it('takes everything of the call for text', async () => {
    const attack = '</script><script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'">';
    const view = shortCallView();
    await open({ ...view, call: { ...view.call, agentId: attack } });
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain(attack);
    expect(await page.title()).not.toBe('taken');
    expect(complaints).toEqual([]);
  });

  it.each([
    ['in light colours', { colorScheme: 'light' }],
    ['in dark colours and a narrow window', { colorScheme: 'dark', viewport: { width: 360, height: 780 } }],
  ] as const)('has no serious finding of axe %s, and is no wider than its window', async (_where, options) => {
    await open(shortCallView(), options);
    await turn(3);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });

  it('has of an hour with 20,000 events only the rows that are seen, the last one, too', async () => {
    await open(longCallView());
    expect(await rows().first().getAttribute('aria-setsize')).toBe('20600');
    await page.getByRole('listbox').focus();
    await page.keyboard.press('End');
    await page.locator('[aria-posinset="20600"]').waitFor();
    expect(await rows().count()).toBeLessThan(100);
    expect(complaints).toEqual([]);
  });
});

function slider(): Locator {
  return page.getByRole('slider');
}
