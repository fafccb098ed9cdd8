// A bot that is woken in silence, over both transports: by what came from outside, then by its time, and at last the caller's silence counts.
import { expect, it, onTestFinished } from 'vitest';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall } from '../../src/fake-platform/caller/caller.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { dataSource, RunningServer } from '../support/running-server.ts';
import { socketDataSource, socketOrigin, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';

const LISTEN = '{ wakeMs: 400, noInputMs: 1500 }';
/** Counts how often it was woken by its time since it spoke. */
const WAKING = botModule(
  'waking',
  `live: { open: (context) => { context.wake('news', 'The parcel is here.'); return context; } },
  session_start: () => go(0, say('Hello.').listen(${LISTEN})),
  woken: (count, { name, data }) => name === 'news' ? go(0, say(data).listen(${LISTEN})) : go(count + 1, listen(${LISTEN})),
  no_input: (woken, { count }) => go(woken, say('Silence ' + count + ' after ' + woken + ' timers.').end()),`,
);

it.each([
  ['gRPC, at the time that it asks for', 'Silence 1 after 3 timers.'],
  ['WebSocket, whenever the platform reports silence', 'Silence 1 after 2 timers.'],
])('wakes a bot over %s (G-70, W-14)', async (transport, last) => {
  const folder = await makeFolder({ 'waking.mjs': WAKING });
  onTestFinished(() => removeFolder(folder));
  const server = await RunningServer.start({
    hasTls: false,
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    flags: [...WITH_SOCKETS, `--bots.folder=${folder}`, '--media.reveal_prompt_text=true'],
  });
  onTestFinished(() => server.close());
  await server.app.warmed;
  const isSocket = transport.startsWith('WebSocket');
  const { heardTexts, findings, terminal } = await placeCall({
    target: isSocket ? socketOrigin(server) : `grpc://${server.target}`,
    profile: loadProfile('fake'),
    organizationId: server.issuer.claims.organizationId,
    token: isSocket ? await socketToken(server.issuer) : await server.issuer.issueToken(),
    // What the platform takes where the server cannot say when.
    noInputMs: 650,
    script: [{ kind: 'wait', waitMs: 30_000 }],
  });
  expect(findings).toEqual([]);
  expect(heardTexts).toEqual(['Hello.', 'The parcel is here.', last]);
  expect(terminal?.kind).toBe('session_end');
  await server.quiet();
});
