// The page of `parley dev` in Chromium: a person calls by microphone, keys and typed words, and hears what the bot says.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wavSound } from '../../src/fake-platform/caller/prompt-sound.ts';
import { decodeMulaw } from '../../src/speech/g711.ts';
import { pcmWav } from '../../src/speech/wav.ts';
import { seriousFindings } from '../support/axe.ts';
import { CHROMIUM_NEEDS } from '../support/chromium.ts';
import { requireDebian } from '../support/debian.ts';
import { recorded } from '../support/line-signals.ts';
import { ANSWER, heardLengthMs, sharePlayed, SoftphoneLab, WELCOME } from '../support/softphone.ts';
import { until } from '../support/until.ts';

const hasChromium = requireDebian(CHROMIUM_NEEDS);
/** On a busy machine the page's buffer may run empty, and 60 ms of the line are then heard as a gap inside a frame. */
const MOST = 0.9;
const YES = decodeMulaw(recorded('yes'));
const YES_AT_16_KHZ = Int16Array.from({ length: 2 * YES.length }, (_, index) => YES[index >> 1] ?? 0);
const STEREO = pcmWav([YES_AT_16_KHZ, YES_AT_16_KHZ], 16_000);

let lab: SoftphoneLab;
beforeAll(async () => {
  if (hasChromium) lab = await SoftphoneLab.start();
});
afterEach(async () => {
  await lab.leave();
});
afterAll(async () => {
  if (hasChromium) await lab.close();
});

describe('the softphone', () => {
  it('lets a person call by microphone: the bot hears it, and the page plays the prompts as they are', async () => {
    await lab.call();
    await lab.happens('prompts_over');
    await lab.happens('start_of_input');
    await lab.happens('prompts_over', 2);
    await lab.page.getByRole('button', { name: 'Hang up' }).click();
    expect(await lab.over()).toBe('hung_up');
    const played = await lab.played();
    expect(sharePlayed(WELCOME, played)).toBeGreaterThan(MOST);
    expect(sharePlayed(ANSWER, played)).toBeGreaterThan(MOST);
    expect(lab.view.turns.map(({ input }) => input?.kind)).toContain('speech');
    expect(Math.max(...wavSound(await lab.track('caller')))).toBeGreaterThan(1000);
    expect(sharePlayed(WELCOME, wavSound(await lab.track('bot')))).toBe(1);
  });

  it('plays no more of a prompt that typed words interrupt, and shows how much of it was heard', async () => {
    const before = (await lab.played()).length;
    await lab.call(false);
    await lab.happens('prompt');
    await lab.say('Stop, please.');
    await lab.happens('cuts_prompts');
    await lab.happens('prompts_over');
    await lab.page.getByRole('button', { name: 'Hang up' }).click();
    await lab.over();
    const played = (await lab.played()).subarray(before);
    expect(sharePlayed(ANSWER, played)).toBeGreaterThan(MOST);
    const { bargeIn } = lab.view.turns.find((turn) => turn.bargeIn !== undefined) ?? {};
    expect(bargeIn?.by).toBe('speech');
    // Each 100 ms of buffers between the line and the loudspeaker count as not heard.
    const heardMs = heardLengthMs(WELCOME, played);
    expect(Math.abs(heardMs - (bargeIn?.heardMs ?? 0))).toBeLessThan(400);
  });

  it('presses keys, and sends nothing while it is muted', async () => {
    await lab.call();
    await lab.page.getByRole('button', { name: 'Mute' }).click();
    await lab.happens('prompts_over');
    await lab.page.getByRole('button', { name: '5', exact: true }).click();
    await lab.happens('prompts_over', 2);
    // Browsers take it: it chooses a tab.
    await lab.page.keyboard.press('Control+7');
    await lab.page.keyboard.press('0');
    expect(await lab.over()).toBe('ended');
    expect(lab.view.turns.flatMap(({ input }) => (input?.kind === 'keys' ? [input.text] : []))).toEqual(['5', '0']);
    expect(wavSound(await lab.track('caller')).some((sample) => Math.abs(sample) > 100)).toBe(false);
  });

  it('calls with the same caller again, and shows both calls side by side', async () => {
    await lab.begin('Same caller again');
    expect(await lab.over()).toBe('ended');
    const rows = lab.page.getByRole('region', { name: 'Same caller again' }).getByRole('row');
    const [head, ...calls] = await rows.allTextContents();
    expect(head).toContain('Before');
    expect(calls).toHaveLength(3);
    expect(calls[2]?.match(/Goodbye\./gu)).toHaveLength(2);
  });

  it('plays the sound of a call from where a person wants it', async () => {
    const position = lab.page.getByRole('slider');
    await position.focus();
    await lab.page.keyboard.press('ArrowRight');
    await lab.page.getByRole('button', { name: 'Play', exact: true }).click();
    const nowMs = async (): Promise<number> => Number(await position.getAttribute('aria-valuenow'));
    await until('the sound plays', async () => (await nowMs()) !== 1000);
    expect(await nowMs()).toBeGreaterThan(1000);
  });

  it('speaks a WAV of any rate that is dropped anywhere on the page, and says what is wrong with one that cannot be spoken', async () => {
    await lab.page.getByLabel('Transport').selectOption('websocket');
    await lab.call(false);
    await lab.happens('prompts_over');
    await lab.drop(new Uint8Array());
    await lab.complains('only a WAV file can be spoken');
    await lab.drop(STEREO.subarray(0, STEREO.length - 2));
    await lab.complains('it ends before its last sample');
    await lab.drop(pcmWav([new Int16Array()], 8000));
    await lab.complains('there is no sound in it');
    await lab.drop(STEREO, 20_000_000);
    await lab.complains('dropped.wav is larger than 20000000 bytes.');
    await lab.drop(STEREO);
    await lab.happens('prompts_over', 2);
    await lab.leave();
    expect(lab.view.call.transport).toBe('websocket');
    expect(lab.view.turns.map(({ input }) => input?.kind)).toContain('speech');
  });

  it('calls nobody when a person hangs up while the microphone is asked for, and lets go of it', async () => {
    await lab.page.evaluate(`{
      const { mediaDevices } = navigator;
      const asked = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = async (wish) => {
        await new Promise((resolve) => { window.allow = resolve; });
        return (window.stream = await asked(wish));
      };
    }`);
    await lab.page.getByLabel('Microphone').setChecked(true);
    await lab.page.getByRole('button', { name: 'Call', exact: true }).click();
    await until('the microphone is asked for', () => lab.page.evaluate<boolean>('window.allow !== undefined'));
    expect(await lab.page.getByRole('heading', { level: 1 }).count()).toBe(0);
    await lab.page.getByRole('button', { name: 'Hang up' }).click();
    await lab.page.getByText('Call over: hung up').waitFor();
    await lab.page.evaluate('window.allow()');
    const isFree = "window.stream?.getTracks().every(({ readyState }) => readyState === 'ended') === true";
    await until('the microphone is free', () => lab.page.evaluate<boolean>(isFree));
  });

  it('ends the call of a page that is left, and says why there is no microphone', async () => {
    await lab.call(false);
    await lab.happens('prompt');
    await lab.page.reload();
    // The page is short now: a file that falls beside it would be opened in its place.
    await lab.drop(STEREO);
    await lab.complains('Call first, then drop a recording.');
    await lab.page.evaluate(
      "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('Permission denied', 'NotAllowedError'))",
    );
    await lab.call();
    await lab.complains('no microphone (Permission denied): type what the caller says');
    await lab.happens('prompts_over');
    await lab.leave();
  });

  it('asks nobody else for anything, complains of nothing, and can be used without sight or mouse', async () => {
    expect(lab.notes.troubles).toEqual([]);
    expect(await seriousFindings(lab.page)).toEqual([]);
  });
});
