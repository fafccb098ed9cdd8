import { expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { demandShared } from '../../../src/cli/serve/with-workers.ts';

const SHARED = [
  '--tls.mode=off',
  '--auth.enabled=false',
  '--grpc.host=127.0.0.1',
  '--store.kind=redis',
  `--store.keys=["${'ab'.repeat(32)}"]`,
];

function demanded(...flags: readonly string[]): () => void {
  const { settings } = loadSettings({ argv: [...SHARED, ...flags], env: {}, cwd: '/' });
  return () => {
    demandShared(settings, 2);
  };
}

it('several processes need settings that they can share', () => {
  expect(demanded()).not.toThrow();
  expect(demanded('--websocket.enabled=true', '--websocket.listen=ops')).toThrow(
    /^--workers 2 does not go with websocket\.listen ops.* set websocket\.listen to own$/u,
  );
  expect(demanded('--peers.port=8090')).toThrow(/^--workers 2 does not go with peers\.port 8090.* set peers\.port to 0$/u);
});
