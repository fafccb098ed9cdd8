// Microphone and loudspeaker of the page, at the rate of the line, so that nothing has to be resampled here.
import { LINE_RATE_HZ } from './mulaw.ts';

/** What a call needs of the sound of this computer. */
export interface PhoneAudio {
  play(frame: Uint8Array): void;
  /** Drops what is not played yet. */
  flush(): void;
  /** Asks for the microphone, once. @throws DOMException when the person or the computer refuses. */
  listen(onFrame: (frame: Uint8Array) => void): Promise<void>;
  stopListening(): void;
  /** Again does nothing. */
  close(): void;
}

/** Opens the loudspeaker; must follow a click. */
export async function openAudio(): Promise<PhoneAudio> {
  const context = new AudioContext({ sampleRate: LINE_RATE_HZ, latencyHint: 'interactive' });
  await context.audioWorklet.addModule('softphone-worklets.js');
  const player = new AudioWorkletNode(context, 'play', { numberOfInputs: 0, outputChannelCount: [1] });
  player.connect(context.destination);
  await context.resume();
  let tracks: readonly MediaStreamTrack[] = [];
  return {
    play: (frame) => {
      player.port.postMessage(frame);
    },
    flush: () => {
      player.port.postMessage(null);
    },
    listen: async (onFrame) => {
      // The line is judged as it is: what a browser does to a voice would change the call.
      const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 };
      const stream = await navigator.mediaDevices.getUserMedia({ audio });
      tracks = stream.getTracks();
      const capture = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 });
      capture.port.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
        onFrame(data);
      };
      context.createMediaStreamSource(stream).connect(capture);
    },
    stopListening: () => {
      for (const track of tracks) track.stop();
    },
    close: () => void context.close().catch(() => undefined),
  };
}
