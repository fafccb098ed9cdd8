import { describe, expect, it } from 'vitest';
import frontDesk from '../../../bots/front-desk.ts';
import { scenarioText } from '../../../src/cli/test-from.ts';
import { readScenarios } from '../../../src/fake-platform/scenario/read.ts';
import type { RecordedEvent, Recording } from '../../../src/recording/recording.ts';
import { callerOf } from '../../../src/recording/scenario/caller-of.ts';
import { encodeMulaw } from '../../../src/speech/g711.ts';
import { recordedWith, START } from '../../replay/recorded-with.ts';
import { voiceSound } from '../../support/voice-sound.ts';

/** A call in which the caller speaks at ten seconds, for a second. */
async function spokenCall(words: string | undefined): Promise<Recording> {
  const call = await recordedWith(frontDesk, [START, { kind: 'dtmf', digits: '1', atMs: 20_000 }]);
  const at = (atMs: number) => ({ atMs, turn: 'call-1#spoken' });
  const sound = encodeMulaw(voiceSound({ rateHz: 8000, speechMs: 1000, afterMs: 500 }));
  const spoken: RecordedEvent[] = [
    { kind: 'turn_opened', ...at(10_000), opensWith: 'nothing' },
    { kind: 'audio', ...at(11_500), encoding: 'mulaw', sampleRateHz: 8000, from: 0, bytes: sound.length },
    { kind: 'output', ...at(10_200), output: { kind: 'input_started' } },
    { kind: 'output', ...at(11_500), output: { kind: 'input_ended' } },
    { kind: 'words', ...at(11_600), tookMs: 100, ...(words !== undefined && { text: words }) },
  ];
  return { ...call, callerSound: sound, events: [...call.events, ...spoken].toSorted((a, b) => a.atMs - b.atMs) };
}

describe('a recorded call as a scenario', () => {
  it('says what was understood', async () => {
    const { text, sounds } = scenarioText(await spokenCall('when do you open?'), 'open');
    expect(text).toContain('- say: when do you open?');
    expect(sounds.size).toBe(0);
    expect(readScenarios(text)).toHaveProperty('file');
  });

  it('plays the sound of what nobody understood', async () => {
    const { text, sounds } = scenarioText(await spokenCall(undefined), 'open');
    expect(text).toContain('# Nobody understood it.\n      - wav: open-1.wav');
    expect(readScenarios(text)).toHaveProperty('file');
    const samples = sounds.get('open-1.wav') ?? new Int16Array(0);
    expect(samples.length / 8).toBeGreaterThan(1400);
    expect(Math.max(...samples)).toBeGreaterThan(5000);
  });
});

it('a recorded caller says and presses the same again', async () => {
  const text = callerOf(await spokenCall('when do you open?'));
  expect(text).toContain('in this order: "when do you open?", [keys 1].');
});
