// Debian's Chromium, without a screen: for tests that look at our pages as people do.
import { chromium, type Browser } from 'playwright-core';
import type { DebianNeeds } from './debian.ts';

const PROGRAM = '/usr/bin/chromium-headless-shell';
/** What `requireDebian` is asked for. */
export const CHROMIUM_NEEDS: DebianNeeds = { files: [PROGRAM], packages: ['chromium-headless-shell'] };

/** Asks nobody outside, and shows no dialog. */
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required'],
];

/**
 * Starts it; whoever starts it closes it.
 *
 * @param options.microphone - absolute path of a WAV that pages hear again and again, as if it were spoken.
 */
export function startChromium({ microphone }: { readonly microphone?: string } = {}): Promise<Browser> {
  const speaking = [
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-audio-capture=${microphone ?? ''}`,
  ];
  return chromium.launch({ executablePath: PROGRAM, args: [...FLAGS, ...(microphone === undefined ? [] : speaking)] });
}
