import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { callPage } from '../../../src/recording/call-page.ts';
import { shortCallView } from '../../support/call-views.ts';

describe('a call as one file', () => {
  it('lets nothing run but its own script, by its hash', async () => {
    const page = await callPage(shortCallView());
    const policy = /<meta http-equiv="Content-Security-Policy" content="(?<policy>[^"]*)">/u.exec(page)?.groups?.['policy'] ?? '';
    const inside = (tag: string): string => new RegExp(`<${tag}>(?<text>[\\s\\S]*?)</${tag}>`, 'u').exec(page)?.groups?.['text'] ?? '';
    for (const [directive, tag] of [
      ['script-src', 'script'],
      ['style-src', 'style'],
    ] as const) {
      expect(inside(tag)).not.toBe('');
      expect(policy).toContain(`${directive} 'sha256-${createHash('sha256').update(inside(tag)).digest('base64')}'`);
    }
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
  });

  it('holds no sound that lies elsewhere, and no address of it', async () => {
    const { caller, ...view } = { ...shortCallView(), caller: shortCallView().sound.caller };
    if (caller === undefined) throw new Error('no sound');
    const page = await callPage({ ...view, sound: { caller: { ...caller, href: '/calls/1/caller.wav' } } });
    expect(page).not.toContain('caller.wav');
    expect(page).not.toContain('id="sound-caller"');
  });
});
