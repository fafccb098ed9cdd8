// The server with speech services behind it: what the caller hears while a text is still being spoken, what reaches the bot
// of what the caller said, and what happens when the services are down. Nothing that was said may be in the log.
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../src/base/package-root.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import { RunningServer } from '../support/running-server.ts';
import { body, json, speechService, stall, status, type Answering, type SpeechService } from '../support/speech-service.ts';
import { pcmBytes, voiceSound } from '../support/voice-sound.ts';
import { event, format, frames } from '../support/wire-audio.ts';

const SPEECH = pcmBytes(voiceSound({ rateHz: 24_000, speechMs: 3060 }));
/** The texts that the server itself says are asked for first. */
const SPOKEN = body(SPEECH, 'audio/pcm');

async function serverWith(
  synthesizing: Answering,
  recognizing: Answering,
): Promise<{ server: RunningServer; mouth: SpeechService; ears: SpeechService }> {
  const [mouth, ears] = [await speechService(synthesizing), await speechService(recognizing)];
  const server = await RunningServer.start({
    flags: [
      `--bots.folder=${packageRoot()}/test/fixtures/voice-bots`,
      ...['--synthesizer.engine=http', `--synthesizer.http.url=${mouth.url}/v1`, '--synthesizer.http.model=mouth'],
      ...['--recognizer.engine=http', `--recognizer.http.url=${ears.url}/v1`, '--recognizer.http.model=ears'],
      '--recognizer.http.key=KEY-CANARY',
    ],
  });
  onTestFinished(() => server.close());
  await server.app.warmed;
  return { server, mouth, ears };
}

/** Texts that a service was asked to speak. */
function textsOf({ received }: SpeechService): readonly string[] {
  return received.map((one) => (JSON.parse(one.body.toString()) as { input: string }).input);
}

const spoken = [format(), ...frames(joined(recorded('sentence'), silence(1500)))];

describe('a server with speech services', () => {
  it('lets the caller hear the beginning of a text while the rest is still being spoken', async () => {
    const { server, mouth } = await serverWith(SPOKEN, json({ text: '' }));
    mouth.answer(stall(SPEECH.subarray(0, 60_000), 'audio/pcm'));
    const before = mouth.received.length;
    const client = await server.client();
    const turn = client.call().open(event('SESSION_START')).halfClose();
    await turn.heard('CHUNK audio');
    expect(turn.ending).toBeUndefined();
    (await mouth.arrived(before + 1)).response.end(SPEECH.subarray(60_000));
    await turn.ended();
    expect(turn.story.at(-1)).toBe('FINAL empty');
    expect(turn.audio.length / 8000).toBeGreaterThan(3);
    expect(turn.audio.length / 8000).toBeLessThan(3.3);
    expect(textsOf(mouth).slice(before)).toEqual(['Welcome to the repeater.']);
    // Known by now: whole, and not asked for again.
    const again = await client.call().turn(event('SESSION_START'));
    expect(again.audio.equals(turn.audio)).toBe(true);
    expect(mouth.received).toHaveLength(before + 1);
  });

  it('brings what the caller said to the bot, and neither words nor key into log and metrics', async () => {
    const { server, mouth, ears } = await serverWith(SPOKEN, json({ text: ' the canary is yellow ' }));
    const call = (await server.client()).call();
    await call.turn(event('SESSION_START'));
    const turn = await call.turn(...spoken);
    expect(turn.story.at(-1)).toBe('FINAL empty');
    expect(textsOf(mouth)).toContain('You said the canary is yellow.');
    expect(ears.received).toHaveLength(1);
    expect(await server.metric('parley_speech_requests_total{service="recognizer",outcome="ok"}')).toBe(1);
    expect(JSON.stringify(server.log)).not.toMatch(/canary/iu);
    await call.turn(event('SESSION_END'));
  });

  it('answers in texts when both services are down, says so in log and metrics, and quotes nothing', async () => {
    const { server, mouth } = await serverWith(SPOKEN, status(500));
    mouth.answer(status(500));
    const call = (await server.client()).call();
    expect((await call.turn(event('SESSION_START'))).story).toEqual(['FINAL text']);
    const turn = await call.turn(...spoken);
    expect(turn.responses.at(-1)?.prompts).toMatchObject([{ text: 'No words.' }]);
    expect(await server.metric('parley_prompts_failed_total{kind="text",code="synthesis_failed"}')).toBe(2);
    expect(await server.metric('parley_speech_requests_total{service="recognizer",outcome="server_error"}')).toBe(1);
    expect(await server.metric('parley_speech_retries_total{service="recognizer"}')).toBe(1);
    expect(server.logged({ level: 'warn' }).map(({ msg }) => msg)).toContain(
      'a prompt has no sound: the speech service failed (status 500)',
    );
    expect(JSON.stringify(server.log)).not.toContain('CANARY');
    await call.turn(event('SESSION_END'));
  });
});
