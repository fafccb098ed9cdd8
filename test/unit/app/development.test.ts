import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { isDevelopment } from '../../../src/app/development.ts';
import { packageRoot } from '../../../src/base/package-root.ts';

const settingsOf = (...argv: readonly string[]): boolean =>
  isDevelopment(loadSettings({ argv: ['--tls.mode=off', '--auth.enabled=false', ...argv], env: {}, cwd: packageRoot() }).settings);

const OPEN = '--auth.allow_unauthenticated_network=true';

describe('a developer’s own server', () => {
  it('asks for no token, and only its own machine can call it', () => {
    expect(settingsOf('--grpc.host=127.0.0.1')).toBe(true);
    expect(settingsOf('--grpc.host=127.0.0.1', '--websocket.enabled=true', '--websocket.host=localhost')).toBe(true);
  });

  it.each([
    [['--grpc.host=0.0.0.0']],
    [['--grpc.host=127.0.0.1', '--websocket.enabled=true', '--websocket.host=0.0.0.0']],
    [['--grpc.host=127.0.0.1', '--websocket.enabled=true', '--websocket.listen=ops', '--ops.host=0.0.0.0']],
  ])('is none that other machines can call: %j', (flags) => {
    expect(settingsOf(OPEN, ...flags)).toBe(false);
  });

  it('is none that asks for tokens', () => {
    const { settings } = loadSettings({
      argv: ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1'],
      env: {},
      cwd: packageRoot(),
    });
    expect(isDevelopment({ ...settings, auth: { ...settings.auth, enabled: true } })).toBe(false);
  });
});
