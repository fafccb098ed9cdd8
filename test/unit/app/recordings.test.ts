import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { openRecorder } from '../../../src/app/recordings.ts';
import { Lifecycle } from '../../../src/base/lifecycle.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import { RecordingFolder } from '../../../src/recording/recording-folder.ts';
import { CallTimelines } from '../../../src/telemetry/call-timeline.ts';
import { recordingLog, testEngine } from '../../support/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { eventsOf, recordingLab, recordingsFolder } from '../../support/recording-lab.ts';
import { until } from '../../support/until.ts';

const VALID = ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off'];
const KEY = 'ab'.repeat(32);

function load(...argv: readonly string[]) {
  return loadSettings({ argv: [...VALID, ...argv], env: {}, cwd: '/' }).settings;
}

describe('the settings of recordings', () => {
  it('refuse to record without a key', () => {
    expect(() => load('--recordings.enabled')).toThrow(/^1 setting is wrong:\n {2}recordings\.keys/u);
    expect(load('--recordings.enabled', `--recordings.keys=["${KEY}"]`).recordings).toMatchObject({ keys: [KEY], share: 1 });
  });

  it('refuse one recording that is larger than all of them', () => {
    expect(() => load('--recordings.max_bytes=2000000', '--recordings.max_call_bytes=3000000')).toThrow('recordings.max_call_bytes');
    expect(() => load('--recordings.max_bytes=0', '--recordings.max_call_bytes=3000000')).not.toThrow();
  });

  it.each(['0', '0.05', '1'])('take a share of %s', (share) => {
    expect(load(`--recordings.share=${share}`).recordings.share).toBe(Number(share));
  });

  it.each(['-0.1', '1.01', 'all', '.5', '1e-2'])('refuse a share of %s', (share) => {
    expect(() => load(`--recordings.share=${share}`)).toThrow('a number from 0 to 1');
  });
});

describe('the recorder of a server', () => {
  it('is there only when calls are recorded, and records the settings that decide how a call goes, and no secret', async () => {
    const folder = recordingsFolder();
    const [clock, log] = [new FakeClock(), recordingLog()];
    const parts = {
      clock,
      log,
      lifecycle: new Lifecycle({ clock, log, limitMs: 1000 }),
      observer: { recorded: () => undefined, lost: () => undefined },
    };
    expect(openRecorder(load(), parts)).toBeUndefined();
    const secret = [
      '--recognizer.engine=http',
      '--recognizer.http.url=http://127.0.0.1:1',
      '--recognizer.http.model=m',
      '--recognizer.http.key=SECRET',
    ];
    const flags = ['--recordings.enabled', `--recordings.folder=${folder}`, `--recordings.keys=["${KEY}"]`, '--speech.end_silence_ms=900'];
    const recorder = openRecorder(load(...secret, ...flags), parts);
    recorder?.begin({
      call: { organizationId: 'o', conversationId: 'c', agentId: 'a', startedAtMs: 0, vendorConfig: '', parameters: {} },
      ...{ bot: { id: 'a', version: 1 }, mode: 'chunk', isTied: true, isInputSensitive: false, isSensitive: false },
    });
    await recorder?.written();
    const { header } = await new RecordingFolder(folder, [Buffer.from(KEY, 'hex')]).read('c');
    await recorder?.close();
    expect(header.settings).toMatchObject({ speech: { end_silence_ms: 900 }, recognizer: { engine: 'http' }, prompts: { language: 'en' } });
    expect(JSON.stringify(header)).not.toContain('SECRET');
  });

  it('leaves a server that records no more to delete what is too old', async () => {
    const folder = recordingsFolder();
    const old = path.join(folder, '20200101T000000-00000001.parley-call');
    writeFileSync(old, 'old');
    utimesSync(old, 1, 1);
    const [clock, log] = [new FakeClock(), recordingLog()];
    const lifecycle = new Lifecycle({ clock, log, limitMs: 1000 });
    const observer = { recorded: () => undefined, lost: () => undefined };
    expect(
      openRecorder(load(`--recordings.folder=${folder}`, '--recordings.max_age_days=1'), { clock, log, lifecycle, observer }),
    ).toBeUndefined();
    await until('it is gone', () => readdirSync(folder).length === 0);
    await lifecycle.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes the facts of the engine for the recording of their call', async () => {
    const listen = () => go(null, say('Yes?').listen());
    const parrot = bot<null>({ id: 'parrot', name: 'Parrot', version: 1, session_start: listen, otherwise: listen });
    const seen: string[] = [];
    const lab = await recordingLab([parrot]);
    const observer = new CallTimelines({
      clock: lab.clock,
      maxCalls: 0,
      onFact: (call, fact) => {
        seen.push(fact.event);
        lab.recorder.fact(call, fact);
      },
    });
    const { sessions } = await testEngine([parrot], { clock: lab.clock, recorder: lab.recorder, observer });
    await new MemoryCall(sessions).start();
    await sessions.close(0);
    const recording = await lab.recording();
    expect(seen).toEqual(expect.arrayContaining(['session_started', 'turn_started', 'bot_answered', 'turn_ended', 'session_ended']));
    const facts = eventsOf(recording, 'fact');
    expect(facts.map(({ event }) => event)).toEqual(
      seen.filter((event) => !['turn_started', 'turn_ended', 'session_ended'].includes(event)),
    );
    expect(facts.find(({ event }) => event === 'bot_answered')).toMatchObject({ turn: 'call-1#1', details: { tookMs: 0 } });
  });
});
