// The thread that reads one recording and makes of it what is shown and heard. A thread, because an hour of sound takes a second of CPU.
import { parentPort, workerData } from 'node:worker_threads';
import { encodeMulaw } from '../speech/g711.ts';
import { mulawWav } from '../speech/wav.ts';
import { shownSound, viewOf } from './call-view.ts';
import { RecordingFolder } from './recording-folder.ts';
import type { ReadingData, RecordedCallParts } from './recorded-calls.ts';

const { folder, keys, conversationId, known } = workerData as ReadingData; // Set by recorded-calls.ts.
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
parentPort?.postMessage({ view: viewOf(recording, sound), ...wavs } satisfies RecordedCallParts);
