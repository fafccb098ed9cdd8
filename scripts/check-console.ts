// `npm run check -- console`: do the pages open without a network, soon, in a bounded size, and for everybody? In Debian's Chromium.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { CallView } from '../src/dialog/call-view.ts';
import { callPage } from '../src/recording/call-page.ts';
import { seriousFindings } from '../test/support/axe.ts';
import { longCallView, shortCallView } from '../test/support/call-views.ts';
import { startChromium } from '../test/support/chromium.ts';
import { until } from '../test/support/until.ts';
import { command, progress, text } from './command-line.ts';
import { consoleFiles } from './console.mjs';
import { softphoneCalls, takePicture } from './console/softphone-calls.ts';

/** How often the long call is opened; the time in the middle counts. */
const OPENED = 5;
const MOST_OPEN_MS = 2000;
/** Of the scripts, style sheets and HTML files of all pages, packed. */
const MOST_KB = 150;
/** Delays that the page has to name. */
const PARTS = 6;
/** How a page is looked at. */
const LOOKS: readonly BrowserContextOptions[] = [
  { colorScheme: 'light' },
  { colorScheme: 'dark' },
  { viewport: { width: 360, height: 780 } },
];

const help = `Opens the pages of console/ in Chromium.

  npm run check -- console
  npm run check -- console --picture docs/images/dev.png    only takes the picture of the documentation

Needs Debian's chromium-headless-shell. The last line is
{"ok","softphoneCalls","heardMatches","latencyPartsNamed","axeSerious","openMs60MinuteCall",
"playedOffline","packedKb"}: calls from the page of parley dev; whether the page played what the bot said, sample by sample; of six delays,
how many the page named as the longest part of the answer; what axe finds that is serious
or critical, in light and dark colours and in a narrow window; the time until an exported call of 60 minutes with 20,000 events shows
its first row (the middle one of ${String(OPENED)}, at most ${String(MOST_OPEN_MS)} ms); whether an exported call plays its sound with the network off and asks for nothing; the
size of all pages, gzip (at most ${String(MOST_KB)} KB).`;

await command({
  help,
  options: { picture: text },
  run: async ({ picture }) => {
    if (picture === undefined) return check();
    await takePicture(picture);
    return undefined;
  },
});

async function check() {
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-console-'));
  const browser = await startChromium();
  try {
    const file = async (view: CallView): Promise<string> => {
      const place = path.join(folder, `${String(view.events.length)}.html`);
      await writeFile(place, await callPage(view));
      return pathToFileURL(place).href;
    };
    const [short, long] = [await file(shortCallView()), await file(longCallView())];
    progress('a call of 42 s');
    const described: string[] = [];
    for (const look of LOOKS) described.push(...(await onPage(browser, look, (page) => findings(page, short))));
    const playedOffline = await onPage(browser, {}, (page) => plays(page, short));
    progress('a call of 60 minutes');
    const openMs: number[] = [];
    for (let count = 0; count < OPENED; count += 1) openMs.push(await onPage(browser, {}, (page) => opened(page, long)));
    const openMs60MinuteCall = Math.round(openMs.toSorted((one, other) => one - other)[Math.floor(OPENED / 2)] ?? Infinity);
    const packedKb = await packedSize();
    const calls = await softphoneCalls();
    const areCalls = calls.heardMatches && calls.latencyPartsNamed === PARTS;
    const ok = described.length === 0 && playedOffline && openMs60MinuteCall <= MOST_OPEN_MS && packedKb <= MOST_KB && areCalls;
    return { ok, described, ...calls, axeSerious: described.length, openMs60MinuteCall, playedOffline, packedKb };
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function onPage<T>(browser: Browser, look: BrowserContextOptions, use: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext(look);
  try {
    await context.setOffline(true);
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
}

/** @returns the time until the first row is painted, ms. */
async function opened(page: Page, url: string): Promise<number> {
  const startedMs = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  await page.evaluate('new Promise(requestAnimationFrame)');
  return performance.now() - startedMs;
}

/** With nothing chosen, and with the turn chosen of which there is most to say. */
async function findings(page: Page, url: string): Promise<readonly string[]> {
  await opened(page, url);
  const found = await seriousFindings(page);
  await page.getByRole('combobox').selectOption('turn');
  await page.getByRole('option', { name: 'Turn 3 ' }).click();
  return [...found, ...(await seriousFindings(page))];
}

async function plays(page: Page, url: string): Promise<boolean> {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await opened(page, url);
  await page.getByRole('button', { name: 'Play' }).click();
  const position = page.getByRole('slider');
  await until('the sound is played', async () => Number(await position.getAttribute('aria-valuenow')) > 500);
  return asked.every((each) => each === url || each.startsWith('blob:'));
}

async function packedSize(): Promise<number> {
  const files = [...(await consoleFiles())].filter(([name]) => /\.(?:js|css|html)$/u.test(name));
  return Math.ceil(files.reduce((sum, [, text]) => sum + gzipSync(text).length, 0) / 1024);
}
