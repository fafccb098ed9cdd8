// `parley dev` in this process and its page in Chromium, with a microphone that hears a WAV: what a developer does, and what the
// loudspeaker gets.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../../src/base/clock.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import { startDev, type DevOptions } from '../../src/cli/dev/start-dev.ts';
import type { CallView } from '../../src/dialog/call-view.ts';
import type { ToPage } from '../../src/fake-platform/softphone/softphone-api.ts';
import { decodeMulaw } from '../../src/speech/g711.ts';
import { mulawWav, pcmWav } from '../../src/speech/wav.ts';
import { botModule, makeFolder, removeFolder } from './bots-folder.ts';
import { startChromium } from './chromium.ts';
import { joined, recorded, silence } from './line-signals.ts';
import { until } from './until.ts';

/** The caller of the microphone begins to speak so long after the call was begun, ms; and then is silent for long. */
const SPEAKS_AFTER_MS = 7000;
/** The welcome of the bot. */
export const WELCOME = recorded('sentence');
/** What the bot answers. */
export const ANSWER = recorded('yes');
const PAGE_LIMIT_MS = 30_000;

const BOT = `recognition: 'none',
  session_start: () => go({ turns: 0 }, play('welcome.wav').listen({ digits: 1 })),
  speech_input: ({ turns }) => go({ turns: turns + 1 }, play('answer.wav').listen({ digits: 1 })),
  dtmf_input: ({ turns }, { digits }) => digits === '0' ? go({ turns }, say('Goodbye.').end()) : go({ turns: turns + 1 }, play('answer.wav').listen({ digits: 1 })),
  otherwise: (state) => go(state, listen({ digits: 1 })),`;

type LabOptions = Partial<Pick<DevOptions, 'argv' | 'modelsUrl' | 'through'>> & { readonly bots?: Readonly<Record<string, string>> };

/** A page on a running `parley dev`. */
export class SoftphoneLab {
  readonly page: Page;
  readonly address: string;
  readonly notes: Notes;
  readonly #close: () => Promise<void>;

  private constructor(lab: Pick<SoftphoneLab, 'page' | 'address' | 'notes'> & { readonly close: () => Promise<void> }) {
    this.page = lab.page;
    this.address = lab.address;
    this.notes = lab.notes;
    this.#close = lab.close;
  }

  /** @param options - beside the lab's own settings; `bots`: files in place of its own bot. */
  static async start(options: LabOptions = {}): Promise<SoftphoneLab> {
    const { bots = { 'desk.mjs': botModule('desk', BOT) }, argv: more = [], ...others } = options;
    const folder = await makeFolder(bots);
    await mkdir(path.join(folder, 'prompts'));
    await writeFile(path.join(folder, 'prompts', 'welcome.wav'), mulawWav(WELCOME));
    await writeFile(path.join(folder, 'prompts', 'answer.wav'), mulawWav(ANSWER));
    const microphone = path.join(folder, 'microphone.wav');
    const spoken = joined(silence(SPEAKS_AFTER_MS), recorded('number'), silence(60_000));
    await writeFile(microphone, pcmWav([decodeMulaw(spoken)], 8000));
    const voice = await callerVoice();
    const argv = [`--bots.folder=${folder}`, '--log.level=silent', '--grpc.port=0', '--ops.port=0', ...more];
    const dev = await startDev({
      ...{ port: 0, voice, clock: systemClock, modelsUrl: undefined, modelScript: undefined },
      ...others,
      argv,
    });
    let browser: Browser | undefined;
    const close = async (): Promise<void> => {
      await browser?.close();
      await dev.close();
      await voice.close();
      await removeFolder(folder);
    };
    try {
      browser = await startChromium({ microphone });
      const notes: Notes = { troubles: [], told: [] };
      const page = await opened(browser, dev.page, notes);
      return new SoftphoneLab({ page, address: dev.page, notes, close });
    } catch (thrown) {
      await close();
      throw thrown;
    }
  }

  /** Calls. */
  async call(usesMicrophone = true): Promise<void> {
    await this.page.getByLabel('Microphone').setChecked(usesMicrophone);
    await this.begin('Call');
  }

  /** Begins a call with a button. */
  async begin(button: string): Promise<void> {
    this.notes.told.length = 0;
    await this.page.getByRole('button', { name: button, exact: true }).click();
    await this.happens('calls');
  }

  async say(text: string): Promise<void> {
    await this.page.getByLabel('What the caller says').fill(text);
    await this.page.getByRole('button', { name: 'Say' }).click();
  }

  /** Waits until something has happened on this call, so many times. */
  async happens(what: string, times = 1): Promise<void> {
    const count = (): number => this.notes.told.filter((message) => message.type === 'event' && message.what === what).length;
    const all = (): string =>
      this.notes.told.flatMap((message) => (message.type === 'event' ? [`${message.what} ${message.detail ?? ''}`] : [])).join(', ');
    await until(
      () => `"${what}" happens on the call: ${all()}`,
      () => count() >= times,
    );
  }

  /** Waits for the end of this call. @returns its outcome. */
  async over(): Promise<string> {
    const over = () => this.notes.told.find((message) => message.type === 'over');
    await until('the call is over', () => over() !== undefined);
    await this.page.getByRole('button', { name: 'Call', exact: true }).waitFor();
    return over()?.outcome ?? '';
  }

  /** Ends a call that still goes on. */
  async leave(): Promise<void> {
    const button = this.page.getByRole('button', { name: 'Hang up' });
    if ((await button.count()) === 0) return;
    await button.click();
    await this.over();
  }

  /** What is shown of this call now. */
  get view(): CallView {
    const last = this.notes.told.findLast((message) => message.type === 'view');
    if (last === undefined) throw new Error('nothing is shown of the call');
    return last.view as CallView;
  }

  /** Drops a file at the lower edge of the window. @param more - bytes behind those given. */
  async drop(bytes: Uint8Array, more = 0): Promise<void> {
    await this.page.evaluate(`{
      const bytes = Uint8Array.from(atob('${Buffer.from(bytes).toString('base64')}'), (character) => character.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes, new Uint8Array(${String(more)})], 'dropped.wav'));
      const target = document.elementFromPoint(innerWidth / 2, innerHeight - 5);
      target.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }`);
  }

  /** Waits until the page complains of something. */
  async complains(words: string): Promise<void> {
    await this.page.getByRole('alert').getByText(words).waitFor();
  }

  /** Everything that went to the loudspeaker since the page was opened, 8 kHz. */
  async played(): Promise<Int16Array> {
    const seconds = (): Promise<number> => this.page.evaluate<number>('window.tap.played.length');
    const before = await seconds();
    // What plays now is known two seconds later.
    const isKnown = async (): Promise<boolean> =>
      (await this.page.evaluate<number>('window.tap.open.size')) === 0 || (await seconds()) >= before + 2;
    await until('what was played is known', isKnown);
    return Int16Array.from(await this.page.evaluate<number[]>('window.tap.played.flat()'));
  }

  /** A track of the call that is shown, as WAV. */
  async track(side: 'caller' | 'bot'): Promise<Uint8Array> {
    const response = await fetch(`${this.address}${this.view.sound[side]?.href ?? ''}`);
    if (!response.ok) throw new Error(`no track of ${side}: status ${String(response.status)}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  close(): Promise<void> {
    return this.#close();
  }
}

interface Notes {
  /** What the page asked of other addresses, and complained about. */
  readonly troubles: string[];
  /** The messages to the page of all calls. */
  readonly told: ToPage[];
}

async function opened(browser: Browser, address: string, { troubles, told }: Notes): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(PAGE_LIMIT_MS);
  page.on('request', (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith('data:')) troubles.push(`asks ${request.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(String(error)));
  await page.addInitScript(TAP);
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => {
      if (typeof payload === 'string') told.push(JSON.parse(payload) as ToPage);
    });
  });
  await page.goto(address);
  return page;
}

/**
 * Runs in the page: keeps what is connected to the loudspeaker, a second at a time, so that a page that is busy loses nothing. A context
 * that is closed stays open until its last sound is known.
 */
const TAP = `
  window.tap = { played: [], open: new Set() };
  const { connect } = AudioNode.prototype;
  AudioNode.prototype.connect = function (target, ...more) {
    if (target instanceof AudioDestinationNode) {
      const node = this.context.createScriptProcessor(8192, 1, 1);
      node.onaudioprocess = ({ inputBuffer }) => {
        window.tap.played.push(Array.from(inputBuffer.getChannelData(0), (sample) => Math.round(sample * 32768)));
        this.context.dispatchEvent(new Event('tapped'));
      };
      window.tap.open.add(this.context);
      connect.call(this, node);
      connect.call(node, target);
    }
    return connect.call(this, target, ...more);
  };
  const { close } = AudioContext.prototype;
  AudioContext.prototype.close = async function () {
    for (let second = 0; second < 2; second += 1) await new Promise((resolve) => this.addEventListener('tapped', resolve, { once: true }));
    window.tap.open.delete(this);
    return close.call(this);
  };`;

/** The part of a sound's voiced frames that is in another sound, sample by sample; 0 to 1. */
export function sharePlayed(mulaw: Uint8Array, played: Int16Array): number {
  const samples = decodeMulaw(mulaw);
  const all = bytesOf(played);
  let [frames, found] = [0, 0];
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    const frame = samples.subarray(at, at + 160);
    if (!frame.some((sample) => Math.abs(sample) > 256)) continue;
    frames += 1;
    if (all.includes(bytesOf(frame))) found += 1;
  }
  return found / Math.max(1, frames);
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** How long a sound was played from its beginning, ms. */
export function heardLengthMs(mulaw: Uint8Array, played: Int16Array): number {
  const samples = decodeMulaw(mulaw);
  const all = bytesOf(played);
  let heard = 0;
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    const frame = samples.subarray(at, at + 160);
    if (frame.some((sample) => Math.abs(sample) > 256) && all.includes(bytesOf(frame))) heard = at + 160;
  }
  return heard / 8;
}
