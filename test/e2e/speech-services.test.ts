// The server with speech services behind it: what the caller hears while a text is still being spoken, what reaches the bot
// of what the caller said, and what happens when the services are down. Nothing that was said may be in the log.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../src/base/package-root.ts';
import { EN } from '../../src/dialog/languages/en.ts';
import { ES } from '../../src/dialog/languages/es.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import { RunningServer, SPEAKS_ANEW } from '../support/running-server.ts';
import { body, fieldsOf, json, speechService, stall, status, type Answering, type SpeechService } from '../support/speech-service.ts';
import { temporaryFolder } from '../support/voice.ts';
import { pcmBytes, voiceSound } from '../support/voice-sound.ts';
import { event, format, frames } from '../support/wire-audio.ts';

const SPEECH = pcmBytes(voiceSound({ rateHz: 24_000, speechMs: 3060 }));
/** The texts that the server itself says are asked for first. */
const SPOKEN = body(SPEECH, 'audio/pcm');

async function serverWith(
  synthesizing: Answering,
  recognizing: Answering,
  flags: readonly string[] = [],
): Promise<{ server: RunningServer; synthesizer: SpeechService; recognizer: SpeechService }> {
  const [synthesizer, recognizer] = [await speechService(synthesizing), await speechService(recognizing)];
  const server = await RunningServer.start({
    flags: [
      `--bots.folder=${packageRoot()}/test/fixtures/voice-bots`,
      ...['--synthesizer.engine=http', `--synthesizer.http.url=${synthesizer.url}/v1`, '--synthesizer.http.model=speech'],
      ...['--recognizer.engine=http', `--recognizer.http.url=${recognizer.url}/v1`, '--recognizer.http.model=recognizer'],
      '--recognizer.http.key=KEY-CANARY',
      SPEAKS_ANEW,
      ...flags,
    ],
  });
  onTestFinished(() => server.close());
  await server.app.warmed;
  return { server, synthesizer, recognizer };
}

interface Asked {
  readonly input: string;
  readonly voice?: string;
}

/** What a service was asked to speak, and by whom. */
function voicesOf({ received }: SpeechService): readonly string[] {
  return received.map((one) => JSON.parse(one.body.toString()) as Asked).map(({ input, voice = 'nobody' }) => `${voice}: ${input}`);
}

/** Texts that a service was asked to speak. */
function textsOf({ received }: SpeechService): readonly string[] {
  return received.map((one) => (JSON.parse(one.body.toString()) as { input: string }).input);
}

const spoken = [format(), ...frames(joined(recorded('sentence'), silence(1500)))];

describe('a server with speech services', () => {
  it('lets the caller hear the beginning of a text while the rest is still being spoken', async () => {
    const { server, synthesizer } = await serverWith(SPOKEN, json({ text: '' }));
    synthesizer.answer(stall(SPEECH.subarray(0, 60_000), 'audio/pcm'));
    const before = synthesizer.received.length;
    const client = await server.client();
    const turn = client.call().open(event('SESSION_START')).halfClose();
    await turn.heard('CHUNK audio');
    expect(turn.ending).toBeUndefined();
    (await synthesizer.arrived(before + 1)).response.end(SPEECH.subarray(60_000));
    await turn.ended();
    expect(turn.story.at(-1)).toBe('FINAL empty');
    expect(turn.audio.length / 8000).toBeGreaterThan(3);
    expect(turn.audio.length / 8000).toBeLessThan(3.3);
    expect(textsOf(synthesizer).slice(before)).toEqual(['Welcome to the repeater.']);
    // Known by now: whole, and not asked for again.
    const again = await client.call().turn(event('SESSION_START'));
    expect(again.audio.equals(turn.audio)).toBe(true);
    expect(synthesizer.received).toHaveLength(before + 1);
  });

  it('brings what the caller said to the bot, and neither words nor key into log and metrics', async () => {
    const { server, synthesizer, recognizer } = await serverWith(SPOKEN, json({ text: ' the canary is yellow ' }));
    const call = (await server.client()).call();
    await call.turn(event('SESSION_START'));
    const turn = await call.turn(...spoken);
    expect(turn.story.at(-1)).toBe('FINAL empty');
    expect(textsOf(synthesizer)).toContain('You said the canary is yellow.');
    expect(recognizer.received).toHaveLength(1);
    expect(await server.metric('parley_speech_requests_total{service="recognizer",outcome="ok"}')).toBe(1);
    expect(JSON.stringify(server.log)).not.toMatch(/canary/iu);
    await call.turn(event('SESSION_END'));
  });

  it('answers in texts when both services are down, says so in log and metrics, and quotes nothing', async () => {
    const { server, synthesizer } = await serverWith(SPOKEN, status(500));
    synthesizer.answer(status(500));
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

  it('speaks and hears in the language of a bot, of one of its texts, and of one of its questions', async () => {
    const { server, synthesizer, recognizer } = await serverWith(SPOKEN, json({ text: 'veintitrés cuatro' }), [
      '--synthesizer.voices=[{"language":"es","voice":"lola"}]',
      ...['--synthesizer.voice=nova', '--synthesizer.http.ssml'],
    ]);
    const call = (await server.client()).call({ agentId: 'spanish' });
    const known = voicesOf(synthesizer);
    expect(known).toEqual(expect.arrayContaining(['lola: ¿Su número?', 'lola: Perdone, algo ha fallado. Inténtelo de nuevo, por favor.']));
    await call.turn(event('SESSION_START'));
    await call.turn(...spoken);
    recognizer.answer(json({ text: 'neuf' }));
    expect((await call.turn(...spoken)).audio.length).toBeGreaterThan(8000);
    await call.turn(event('NO_INPUT'));
    const asked = (name: string) => recognizer.received.map((one) => fieldsOf(one).get(name)?.content.toString());
    expect([asked('language'), asked('prompt')]).toEqual([
      ['es', 'fr'],
      ['cuatro, cinco', undefined],
    ]);
    // The apology after the 9 was spoken before the call.
    expect(voicesOf(synthesizer).slice(known.length)).toEqual(['pepa: Tengo 234.', 'nova: <speak>Hi, <break/> bye.</speak>']);
    await call.turn(event('SESSION_END'));
  });

  it('works with the settings of the recipe for models of this machine', async () => {
    const [synthesizer, recognizer] = [await speechService(SPOKEN), await speechService(json({ text: 'uno dos tres' }))];
    const recipe = readFileSync(`${packageRoot()}/docs/examples/local-speech.yaml`, 'utf8');
    const file = path.join(temporaryFolder(), 'local-speech.yaml');
    writeFileSync(file, recipe.replace('http://127.0.0.1:8880', synthesizer.url).replace('http://127.0.0.1:8000', recognizer.url));
    const server = await RunningServer.start({
      flags: [SPEAKS_ANEW, '--config', file, `--bots.folder=${packageRoot()}/test/fixtures/voice-bots`],
    });
    onTestFinished(() => server.close());
    await server.app.warmed;
    const call = (await server.client()).call({ agentId: 'spanish' });
    await call.turn(event('SESSION_START'));
    expect((await call.turn(...spoken)).audio.length).toBeGreaterThan(8000);
    expect(JSON.parse(String(synthesizer.received[0]?.body))).toEqual({
      ...{ model: 'kokoro', voice: 'af_heart', input: EN.lines.transfer, response_format: 'pcm' },
    });
    expect(voicesOf(synthesizer)).toEqual(expect.arrayContaining([`ef_dora: ¿Su número?`, `ef_dora: ${ES.lines.apology}`]));
    expect(synthesizer.received.every((one) => one.path === '/v1/audio/speech')).toBe(true);
    const [asked] = recognizer.received;
    if (asked === undefined) throw new Error('nothing was recognized');
    expect([asked.path, fieldsOf(asked).get('model')?.content.toString()]).toEqual([
      '/v1/audio/transcriptions',
      'Systran/faster-whisper-small',
    ]);
    await call.turn(event('SESSION_END'));
  });
});
