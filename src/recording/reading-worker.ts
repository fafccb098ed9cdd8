// The process that reads one recording and makes the view and the sound of it: see recorded-calls.ts.
import { encodeMulaw } from '../speech/g711.ts';
import { mulawWav } from '../speech/wav.ts';
import { shownSound, viewOf } from './call-view.ts';
import { RecordingFolder } from './recording-folder.ts';
import type { ReadingData, RecordedCallParts } from './recorded-calls.ts';

// The message comes from recorded-calls.ts, which ends this process after the answer. A thrown error ends it, too.
process.on('message', (data) => {
  void read(data as ReadingData).then((parts) => process.send?.(parts));
});

async function read({ folder, keys, conversationId, known }: ReadingData): Promise<RecordedCallParts> {
  const recordings = new RecordingFolder(
    folder,
    keys.map((key) => Buffer.from(key)),
  );
  const recording = await recordings.read(conversationId, known);
  const address = `../api/calls/${encodeURIComponent(conversationId)}/sound`;
  const wavs: { caller: Uint8Array; bot: Uint8Array } = { caller: new Uint8Array(), bot: new Uint8Array() };
  const sound = shownSound(recording, (samples, side) => {
    wavs[side] = mulawWav(encodeMulaw(samples));
    return `${address}/${side}`;
  });
  return { view: viewOf(recording, sound), ...wavs };
}
