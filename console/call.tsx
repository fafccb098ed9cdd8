// The page of one call that stands in the page itself: what `parley calls export --html` writes. Needs no network and no server.
import { render } from 'preact';
import type { CallView } from '../src/dialog/call-view.ts';
import { Call } from './call/call.tsx';
import './look.css';

const page = document.getElementById('page');
// Written by callPage alone.
const view = JSON.parse(document.getElementById('data')?.textContent ?? 'null') as CallView | null;
if (page !== null && view !== null) {
  document.title = `${view.call.agentId}, call ${view.call.conversationId}`;
  show(view, page);
  // The sound follows this script in the file: the call is shown before all of it has loaded.
  document.addEventListener('DOMContentLoaded', () => void addSound(view, page));
}

function show(shown: CallView, on: HTMLElement): void {
  render(
    <main>
      <Call view={shown} />
    </main>,
    on,
  );
}

async function addSound(silent: CallView, on: HTMLElement): Promise<void> {
  const { caller, bot } = silent.sound;
  const [callerHref, botHref] = await Promise.all([unpacked('caller'), unpacked('bot')]);
  const sound = {
    ...(caller === undefined ? {} : { caller: { ...caller, href: callerHref } }),
    ...(bot === undefined ? {} : { bot: { ...bot, href: botHref } }),
  };
  show({ ...silent, sound }, on);
}

/** @returns the address of a sound that is embedded in the page; empty when there is none. */
async function unpacked(side: 'caller' | 'bot'): Promise<string> {
  const packed = atob(document.getElementById(`sound-${side}`)?.textContent ?? '');
  if (packed === '') return '';
  const bytes = new Uint8Array(packed.length);
  for (let index = 0; index < packed.length; index += 1) bytes[index] = packed.charCodeAt(index);
  const sound = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  return URL.createObjectURL(new Blob([await sound.arrayBuffer()], { type: 'audio/wav' }));
}
