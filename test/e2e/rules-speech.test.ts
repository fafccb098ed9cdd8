// Rules about the caller's voice, over real sockets: in which forms it may come, and how long the
// server listens before it says that speech has begun or is over.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { listen } from '../../src/bot/index.ts';
import { VOICE_ENCODING, type MediaRequest } from '../../src/contract/grpc.ts';
import { FALLBACK_FORMAT } from '../../src/speech/audio-format.ts';
import { decodeMulaw } from '../../src/speech/g711.ts';
import { mulawWav, pcmWav } from '../../src/speech/wav.ts';
import { alaw, joined, linear16, recorded, silence } from '../support/line-signals.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import { started, WITH_PUPPET } from '../support/puppet.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { event, format, frames, keys, PROBE, quiet } from '../support/wire-audio.ts';

type Input = Pick<MediaRequest, 'audio_input'>;

/** A line on which somebody says a sentence and then nothing. */
const LINE = joined(silence(400), recorded('sentence'), silence(2500));

/** The same line at 16 kHz: each sample twice, which is good enough to be speech. */
const wide = (samples: Int16Array): Int16Array => Int16Array.from({ length: samples.length * 2 }, (_, index) => samples[index >> 1] ?? 0);

/** Pieces of so many bytes that name no format. */
function pieces(audio: Uint8Array, bytes: number): readonly Input[] {
  return Array.from({ length: Math.ceil(audio.length / bytes) }, (_, index) => ({
    audio_input: { caller_audio: audio.subarray(index * bytes, (index + 1) * bytes) },
  }));
}

const pcm = decodeMulaw(LINE);
const FORMS: readonly (readonly [string, readonly Input[]])[] = [
  ['µ-law', [format(), ...frames(LINE)]],
  ['no format named at all', frames(LINE)],
  ['a format of zeros', [format(VOICE_ENCODING.UNSPECIFIED_FORMAT, 0), ...frames(LINE)]],
  ['A-law', [format(VOICE_ENCODING.ALAW_FORMAT), ...frames(alaw(pcm))]],
  ['16-bit PCM at 8 kHz', [format(VOICE_ENCODING.LINEAR16_FORMAT), ...pieces(linear16(pcm), 320)]],
  ['16-bit PCM at 16 kHz', [format(VOICE_ENCODING.LINEAR16_FORMAT, 16_000), ...pieces(linear16(wide(pcm)), 640)]],
  ['a WAV file of µ-law in frames', pieces(mulawWav(LINE), 160)],
  ['a WAV file of 16-bit PCM at 16 kHz in one message', [{ audio_input: { caller_audio: pcmWav([wide(pcm)], 16_000) } }]],
];

/** A call whose welcome says nothing, so that nobody waits for it to be heard. */
async function begun(client: PlatformClient): Promise<PlatformCall> {
  const call = client.call();
  await call.turn(started({ reply: listen() }));
  return call;
}

describe('the caller’s voice', () => {
  let server: RunningServer;
  let client: PlatformClient;
  beforeAll(async () => {
    server = await RunningServer.start({ flags: [...WITH_PUPPET, '--synthesizer.engine=none'] });
    client = await server.client();
  });
  afterAll(async () => {
    await server.quiet();
    await server.close();
  });

  it.each(FORMS)('G-31 G-36 G-38 is heard and answered when it comes as %s: one start, one end', async (_name, inputs) => {
    const call = await begun(client);
    const turn = await call.turn(...inputs);
    expect(turn.ending.code).toBe(status.OK);
    expect(turn.story.map((line) => line.replace(/^CHUNK|^FINAL/u, ''))).toEqual([' START_OF_INPUT', ' END_OF_INPUT', ' text']);
    await call.turn(event('SESSION_END'));
  });

  it('G-32 is heard in the format that an earlier RPC of the call has named', async () => {
    const call = await begun(client);
    await call.turn(format(VOICE_ENCODING.LINEAR16_FORMAT, 16_000), ...pieces(linear16(new Int16Array(3200)), 640));
    const turn = await call.turn(...pieces(linear16(wide(pcm)), 640));
    expect(turn.story).toHaveLength(3);
    await call.turn(event('SESSION_END'));
  });

  it('G-34 is not mixed up with probes: any number of them before it and among it changes nothing', async () => {
    const call = await begun(client);
    const onlyProbes = await call.turn(format(), ...Array<Input>(100).fill(PROBE));
    expect({ story: onlyProbes.story, code: onlyProbes.ending.code }).toEqual({ story: [], code: status.OK });
    const among = frames(LINE).flatMap((frame) => [PROBE, frame]);
    expect((await call.turn(...among)).story).toHaveLength(3);
    await call.turn(event('SESSION_END'));
  });
});

describe('how long the server listens', () => {
  const { settings } = loadSettings({ argv: ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1'], env: {} });

  it('G-3A before it reports a start and an end is a setting, shorter than the gateway’s on purpose', () => {
    const { startMs, endSilenceMs, resumeGraceMs } = settings.speech;
    expect({ startMs, endSilenceMs: endSilenceMs + resumeGraceMs }).toEqual({ startMs: 100, endSilenceMs: 800 });
    expect(FALLBACK_FORMAT).toEqual({ encoding: 'mulaw', sampleRateHz: 8000 });
  });

  /** A call to the bot that says back what it heard. */
  async function callWith(...flags: readonly string[]): Promise<PlatformCall> {
    const server = await RunningServer.start({ flags: [...WITH_TEST_BOTS, '--media.mode=chunk', '--speech.resume_grace_ms=0', ...flags] });
    onTestFinished(() => server.close());
    const call = (await server.client()).call();
    // The welcome asks for digits, which are listened for in another way; the answer to a key does not.
    await call.turn(event('SESSION_START'));
    await call.turn(keys('0'));
    // A key cuts what is said, so that nothing plays.
    await call.turn(event('START_OF_DTMF'));
    return call;
  }

  const spokenMs = ({ audio }: ClientTurn): number => audio.length / 8;

  it('G-3A the end of speech comes after the silence that is set: a pause that is shorter is part of what was said', async () => {
    const twice = [format(), ...quiet(400), ...frames(joined(recorded('yes'), silence(1600), recorded('yes'), silence(4000)))];
    const patient = await (await callWith('--speech.end_silence_ms=3000')).turn(...twice);
    const brisk = await (await callWith('--speech.end_silence_ms=400')).turn(...twice);
    for (const turn of [patient, brisk])
      expect(turn.story).toEqual(['FINAL START_OF_INPUT', 'CHUNK END_OF_INPUT', 'CHUNK audio', 'FINAL empty']);
    expect(spokenMs(patient)).toBeGreaterThan(2000);
    expect(spokenMs(brisk)).toBeLessThan(1600);
  });

  it('G-3A the start of speech comes after as much voice as is set: what is shorter is none', async () => {
    const word = [format(), ...quiet(400), ...frames(joined(recorded('yes'), silence(1500)))];
    expect((await (await callWith('--speech.start_ms=40')).turn(...word)).story).toHaveLength(4);
    expect((await (await callWith('--speech.start_ms=1000')).turn(...word)).story).toEqual([]);
  });
});
