import { createServer, type Server } from 'parley-voice/server';
import { startPlatform, type TestPlatform } from 'parley-voice/platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import menu from '../menu.ts';

let platform: TestPlatform;
let server: Server;

beforeAll(async () => {
  platform = await startPlatform();
  server = await createServer(
    {
      ...platform.trust,
      grpc: { host: '127.0.0.1', port: 0 },
      ops: { port: 0 },
      tls: { mode: 'off' },
      // So that the scenario can read what the caller hears.
      media: { reveal_prompt_text: true },
      log: { level: 'warn' },
    },
    { bots: [menu] },
  );
});
afterAll(async () => {
  await server.close();
  await platform.close();
});

it('gets a person for 0', async () => {
  const { failures } = await platform.call(server.address.grpc, {
    welcome: { heard: 'Welcome' },
    steps: [
      { press: '1', interrupt_after_ms: 500, expect: { heard: '/nine to five/' } },
      { press: '0', expect: { ends: 'transferred', with_data: { reason: 'asked' } } },
    ],
    pace: 10,
  });
  expect(failures).toEqual([]);
});
