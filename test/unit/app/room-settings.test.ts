// What the rooms get of settings that they have in other words.
import { expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { engineSettings } from '../../../src/app/room-settings.ts';

const REQUIRED = ['--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1'];

it('the state of a bot may take a quarter of the largest snapshot', () => {
  const { settings } = loadSettings({ argv: [...REQUIRED, '--sessions.max_snapshot_bytes=10001'], env: {} });
  expect(engineSettings(settings).maxStateBytes).toBe(2500);
});

it('the largest snapshot is not known by the name that its quarter once had', () => {
  const argv = [...REQUIRED, '--sessions.max_record_bytes=65536'];
  expect(() => loadSettings({ argv, env: {} })).toThrow(/--sessions\.max_record_bytes[^]*the key is not known/u);
});
