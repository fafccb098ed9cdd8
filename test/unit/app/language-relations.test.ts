import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/config/load-settings.ts';

const open = ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=::1'];

function load(...argv: string[]): () => unknown {
  return () => loadSettings({ argv, env: {}, cwd: '/' });
}

describe('the rules between settings about languages', () => {
  it('refuses lines in a language that the server does not know, unless all three are there', () => {
    const lines = (more: object = {}): string => `--prompts.languages=${JSON.stringify([{ language: 'it', ...more }])}`;
    expect(load(...open, lines())).toThrow(/prompts\.languages[^]*add filler, apology and transfer/u);
    expect(load(...open, lines({ filler: 'f', apology: 'a', transfer: 't' }))).not.toThrow();
    expect(load(...open, '--prompts.language=it')).toThrow(/prompts\.language = it[^]*it knows en, es, de, fr/u);
    expect(load(...open, '--prompts.language=it', '--prompts.filler=f', '--prompts.apology=a', '--prompts.transfer=t')).not.toThrow();
    expect(load(...open, '--prompts.language=fr-CA')).not.toThrow();
  });

  it('refuses a voice for a language that flite does not have', () => {
    const voices = '--synthesizer.voices=[{"language":"es","voice":"lola"}]';
    expect(load(...open, voices)).toThrow(/synthesizer\.voices[^]*flite has no such voice/u);
    expect(load(...open, voices, '--synthesizer.engine=none')).not.toThrow();
  });
});
