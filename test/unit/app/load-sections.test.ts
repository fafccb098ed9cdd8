import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { loadSections } from '../../../src/app/config/load-settings.ts';

describe('loadSections', () => {
  it('takes what it needs of a configuration that could not serve, and names the mistakes in that alone', () => {
    const load = (argv: readonly string[]) => loadSections({ env: {}, cwd: tmpdir(), argv }, 'synthesizer', 'turns').settings;
    expect(load(['--synthesizer.voice=rms', '--grpc.port=no']).synthesizer.voice).toBe('rms');
    expect(() => load(['--synthesizer.voice=nobody', '--grpc.port=no'])).toThrow(/^1 setting is wrong:\n {2}synthesizer\.voice = nobody/u);
    expect(() => load(['--turns.max_open=0', '--synthesiser.voice=rms'])).toThrow(/^2 settings are wrong/u);
    expect(() => load(['--config=none.yaml'])).toThrow(/none\.yaml/u);
  });
});
