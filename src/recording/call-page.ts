// One call as one HTML file that opens without network and server. Takes the page from console/ and adds data and sound.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { consoleFile } from '../base/console-files.ts';
import { AppError } from '../base/errors.ts';
import type { CallView, ShownTrack } from '../dialog/call-view.ts';

const PLACE = '<script type="application/json" id="data">null</script>';
const END = '\n</body>';
const DATA = 'data:audio/wav;base64,';
const packed = promisify(gzip);

/** The whole file. @param view - keeps sound at `data:audio/wav;base64,…`. @throws AppError `internal` for an incomplete installation. */
export async function callPage(view: CallView): Promise<string> {
  const page = await consoleFile('call.html');
  if (page?.includes(PLACE) !== true) throw new AppError('internal', 'dist/console/call.html is missing: the installation is incomplete');
  const { caller, bot } = view.sound;
  const silent = { ...view, sound: { ...(caller && { caller: withoutSound(caller) }), ...(bot && { bot: withoutSound(bot) }) } };
  // Escaped, so that no text in the data can close the element.
  const data = JSON.stringify(silent).replaceAll('<', String.raw`\u003c`);
  const sounds = `${await soundElement('caller', caller)}${await soundElement('bot', bot)}`;
  return page.replace(PLACE, () => PLACE.replace('null', () => data)).replace(END, () => `${sounds}${END}`);
}

function withoutSound({ peaks }: ShownTrack): ShownTrack {
  return { peaks, href: '' };
}

/** Compressed, an hour of sound is a fifth as long; in one piece with the rest, a browser would not open it. */
async function soundElement(side: string, track: ShownTrack | undefined): Promise<string> {
  if (track === undefined || !track.href.startsWith(DATA)) return '';
  const wav = await packed(Buffer.from(track.href.slice(DATA.length), 'base64'));
  return `\n<script type="text/plain" id="sound-${side}">${wav.toString('base64')}</script>`;
}
