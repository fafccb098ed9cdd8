import { describe, expect, it } from 'vitest';
import { CommandRecognizer } from '../../../../src/voice/recognizers/command.ts';
import { findRecognizer, type RecognizerChoice } from '../../../../src/voice/recognizers/find-recognizer.ts';
import { HttpRecognizer } from '../../../../src/voice/recognizers/http.ts';
import { recordingLog } from '../../../support/engine.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const parts = () => ({ clock: new FakeClock(), log: recordingLog() });
const http: RecognizerChoice = {
  ...{ engine: 'http', url: 'https://speech.example.com/v1', key: undefined, model: 'm' },
  ...{ language: undefined, prompt: undefined, timeoutMs: 1 },
};

describe('findRecognizer', () => {
  it('finds the one that was chosen', async () => {
    expect(findRecognizer({ engine: 'none' }, parts())).toBeUndefined();
    const command = findRecognizer({ engine: 'command', command: ['true'], timeoutMs: 1000 }, parts());
    expect(command).toBeInstanceOf(CommandRecognizer);
    const service = findRecognizer(http, parts());
    expect(service).toBeInstanceOf(HttpRecognizer);
    await Promise.all([command?.close(), service?.close()]);
  });

  it('refuses a service whose address others could listen to', () => {
    expect(() => findRecognizer({ ...http, url: 'http://speech.example.com' }, parts())).toThrow(
      expect.objectContaining({ code: 'config_invalid' }) as Error,
    );
  });
});
