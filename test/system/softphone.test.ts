// The page of `parley dev` in Chromium: a person calls by microphone, keys and typed words, and hears what the bot says.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wavSound } from '../../src/fake-platform/caller/prompt-sound.ts';
import { seriousFindings } from '../support/axe.ts';
import { CHROMIUM_NEEDS } from '../support/chromium.ts';
import { requireDebian } from '../support/debian.ts';
import { ANSWER, heardLengthMs, sharePlayed, SoftphoneLab, WELCOME } from '../support/softphone.ts';

const hasChromium = requireDebian(CHROMIUM_NEEDS);
/** On a busy machine the page's buffer may run empty, and 60 ms of the line are then heard as a gap inside a frame. */
const MOST = 0.9;

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

  it('asks nobody else for anything, complains of nothing, and can be used without sight or mouse', async () => {
    expect(lab.notes.troubles).toEqual([]);
    expect(await seriousFindings(lab.page)).toEqual([]);
  });
});
