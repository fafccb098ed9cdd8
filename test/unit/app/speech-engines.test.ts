// What the settings of speech come to in the words of the voice.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings, type LoadedSettings } from '../../../src/app/config/load-settings.ts';
import { engineSettings, recognizerChoice, voiceSettings } from '../../../src/app/room-settings.ts';
import { DE } from '../../../src/dialog/languages/de.ts';
import { EN } from '../../../src/dialog/languages/en.ts';
import { ES } from '../../../src/dialog/languages/es.ts';
import { temporaryFolder } from '../../support/voice.ts';

// The least that makes the defaults valid.
const VALID = ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--tls.mode=off'];

function settings(...argv: string[]): ReturnType<typeof loadSettings>['settings'] {
  return loadSettings({ argv: [...VALID, ...argv], env: {}, cwd: '/' }).settings;
}

const synthesizer = (...argv: string[]): unknown => voiceSettings(settings(...argv), '/prompts').synthesizer;

describe('the settings of speech', () => {
  it('come to the embedded voice and no recognizer when nothing is said', () => {
    expect(voiceSettings(settings('--synthesizer.cache_folder=/cache'), '/prompts')).toEqual({
      ...{ synthesizer: { engine: 'flite', voice: undefined, voices: new Map(), timeoutMs: 10_000 }, promptsFolder: '/prompts' },
      ...{ cacheFolder: '/cache', cacheMaxBytes: 67_108_864 },
    });
    expect(recognizerChoice(settings())).toEqual({ engine: 'none' });
  });

  it('come to what was chosen', () => {
    expect(synthesizer('--synthesizer.engine=none')).toEqual({ engine: 'none' });
    expect(synthesizer('--synthesizer.voice=kal', '--synthesizer.timeout_ms=4000')).toEqual({
      ...{ engine: 'flite', voice: 'kal', voices: new Map(), timeoutMs: 4000 },
    });
    const service = ['engine=http', 'http.url=https://speech.example.com/v1', 'http.model=m', 'http.key=k'];
    expect(synthesizer(...service.map((one) => `--synthesizer.${one}`), '--synthesizer.voice=nova')).toEqual({
      ...{
        engine: 'http',
        url: 'https://speech.example.com/v1',
        key: 'k',
        model: 'm',
        voice: 'nova',
        voices: new Map(),
        timeoutMs: 10_000,
      },
      ...{ format: 'pcm', rateHz: 24_000, speedPercent: 100, ssml: false, firstByteMs: 3000 },
    });
    expect(recognizerChoice(settings(...service.map((one) => `--recognizer.${one}`), '--recognizer.http.language=en'))).toEqual({
      ...{ engine: 'http', url: 'https://speech.example.com/v1', key: 'k', model: 'm', timeoutMs: 5000 },
      ...{ language: 'en', prompt: undefined },
    });
    expect(recognizerChoice(settings('--recognizer.engine=command', '--recognizer.command=["ears","--fast"]'))).toEqual({
      ...{ engine: 'command', command: ['ears', '--fast'], timeoutMs: 5000 },
    });
  });

  it('come to lines and voices by language, the operator’s before our own', () => {
    const given = settings(
      '--prompts.language=es',
      '--prompts.transfer=Le paso.',
      '--prompts.languages=[{"language":"de-AT","apology":"Verzeihung."}]',
      '--synthesizer.voices=[{"language":"de-AT","voice":"kal"}]',
    );
    const { language, lines, linesByLanguage } = engineSettings(given);
    expect([language, lines]).toEqual(['es', { ...ES.lines, transfer: 'Le paso.' }]);
    expect(linesByLanguage.get('es')).toEqual(lines);
    expect(linesByLanguage.get('de-at')).toEqual({ ...DE.lines, apology: 'Verzeihung.' });
    expect([linesByLanguage.get('de'), linesByLanguage.get('en')]).toEqual([DE.lines, EN.lines]);
    expect(voiceSettings(given, '/prompts').synthesizer).toMatchObject({ voices: new Map([['de-at', 'kal']]) });
  });

  it('takes the key of a service from a file that a file or a variable names, and shows neither key', () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'key'), 'KEY-CANARY\n');
    writeFileSync(join(cwd, 'my.yaml'), 'recognizer:\n  http:\n    key: { file: key }\n');
    const load = (env: Readonly<Record<string, string>>, ...argv: string[]): LoadedSettings =>
      loadSettings({ argv: [...VALID, ...argv], env, cwd });
    const loaded = load({ PARLEY_SYNTHESIZER_HTTP_KEY: '{"file": "key"}' }, '--config', 'my.yaml');
    expect([loaded.settings.recognizer.http.key, loaded.settings.synthesizer.http.key]).toEqual(['KEY-CANARY', 'KEY-CANARY']);
    expect(loaded.masked('recognizer.http.key')).toEqual({ file: 'key' });
    const inPlace = load({ PARLEY_RECOGNIZER_HTTP_KEY: 'KEY-CANARY' });
    expect(inPlace.settings.recognizer.http.key).toBe('KEY-CANARY');
    expect(inPlace.masked('recognizer.http.key')).toBe('****');
    expect(load({}).masked('recognizer.http.key')).toBe('');
    expect(() => load({ PARLEY_RECOGNIZER_HTTP_KEY: 'KEY-CANÁRY' })).toThrow(
      /^1 setting is wrong:\n {2}recognizer\.http\.key = \*\*\*\*[^]*ASCII/u,
    );
  });
});
