// A program of a stranger: a server and a platform that calls it. Prints how the call went.
import { bot, go, say } from 'parley-voice';
import { openAdmin } from 'parley-voice/admin';
import { startPlatform } from 'parley-voice/platform';
import { createServer } from 'parley-voice/server';
const desk = bot({
  id: 'desk',
  name: 'Desk',
  version: 1,
  session_start: () => go(null, say('Hello.').end()),
  otherwise: () => go(null, say('Hm.').listen()),
});
const platform = await startPlatform();
const server = await createServer(
  { ...platform.trust, grpc: { host: '127.0.0.1', port: 0 }, ops: { port: 0 }, tls: { mode: 'off' }, log: { level: 'error' } },
  { bots: [desk] },
);
const { failures, outcome } = await platform.call(server.address.grpc, { pace: 5 });
await server.close();
await platform.close();
process.stdout.write(`${JSON.stringify({ failures, outcome, openAdmin: typeof openAdmin })}\n`);
