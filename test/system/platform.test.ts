// `parley platform` as a developer uses it: the platform and the server as processes of their own, everything else as commands
// from a third terminal.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { callCommand } from '../../src/fake-platform/cli/call.ts';
import type { CallSurroundings } from '../../src/fake-platform/cli/call-access.ts';
import { platformCommand } from '../../src/fake-platform/cli/platform.ts';
import { systemClock } from '../../src/base/clock.ts';
import { agreeInBrowser } from '../../src/fake-platform/platform/browser.ts';
import { runAdmin, runCommand, type AdminEnd } from '../support/admin-command.ts';
import { freePorts } from '../support/free-port.ts';
import { ParleyProcess } from '../support/parley-process.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { until } from '../support/until.ts';

const ORG = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-platform-'));
  // Where the control key lies: nobody else's commands are to find it.
  vi.stubEnv('TMPDIR', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** A process that is gone when the test ends. */
function kept<P extends ParleyProcess>(child: P): P {
  onTestFinished(() => child.kill());
  return child;
}

const modeOf = (file: string): number => statSync(file).mode & 0o777;

/** Whether the server lets a caller of the organization in who shows the token in this file. */
async function isLetIn(target: string, tokenFile: string): Promise<boolean> {
  const said: string[] = [];
  let code: number | undefined;
  const surroundings: CallSurroundings = {
    ...{ clock: systemClock, isColoured: false, print: (line) => said.push(line), complain: (line) => said.push(line) },
    openVoice: () => Promise.reject(new Error('nobody speaks')),
    setExitCode: (set) => (code = set),
    onInterrupt: () => () => undefined,
  };
  await callCommand(surroundings).parseAsync([target, '--org', ORG, '--token-file', tokenFile, '--list'], { from: 'user' });
  if (code !== 0) expect(said.join()).toMatch(/UNAUTHENTICATED|401/u);
  else expect(said.join()).toContain('front-desk');
  return code === 0;
}

it('from the platform to a server that can be called, and back, with every secret where it belongs', async () => {
  const [port = 0, grpcPort = 0, socketPort = 0, webhookPort = 0, redirectPort = 0] = await freePorts(5);
  const [grpc, socket] = [`grpc://127.0.0.1:${String(grpcPort)}`, `ws://127.0.0.1:${String(socketPort)}`];
  const config = path.join(folder, 'parley.platform.yaml');
  const redirectUri = `http://127.0.0.1:${String(redirectPort)}/callback`;
  const ports = ['--port', String(port), '--server-port', String(grpcPort), '--webhook-port', String(webhookPort)];
  const both = [...ports, '--websocket', String(socketPort)];
  const platform = kept(new ParleyProcess(['platform', ...both, '--config-out', config, '--redirect-uri', redirectUri]));
  await platform.said('the platform is ready', () => platform.stdout.includes('Ctrl-C'));
  const controlKeyFile = path.join(folder, `parley-${String(process.getuid?.() ?? 'user')}`, `platform-${String(port)}.key`);
  const keyFile = path.join(folder, 'parley.platform.key');
  expect([config, keyFile, controlKeyFile, path.dirname(controlKeyFile)].map(modeOf)).toEqual([0o600, 0o600, 0o600, 0o700]);
  const tell = (...argv: readonly string[]): Promise<AdminEnd> => runCommand(platformCommand(), [...argv, '--port', String(port)]);

  let printed = '';
  const opened = new Promise<string>((resolve) => {
    const onErr = (text: string): void => {
      printed += text;
      const url = /http:\/\/\S+/u.exec(printed)?.[0];
      if (url !== undefined) resolve(url);
    };
    void runAdmin(['login', '--config', config, '--no-browser'], { onErr }).then((end) => {
      loggedIn = end;
    });
  });
  let loggedIn: AdminEnd | undefined;
  await agreeInBrowser(await opened, AbortSignal.timeout(60_000));
  await until('the login is over', () => loggedIn !== undefined);
  expect(loggedIn?.code).toBe(0);

  const server = kept(new ServeProcess(['--config', config, '--ops.port=0', '--json']));
  await server.ready();
  const tokenFile = path.join(folder, 'token.jws');
  const early = await tell('token', ORG, '--out', tokenFile);
  expect([early.code, early.err]).toEqual([1, expect.stringContaining('has no data source')]);
  const authorized = await tell('authorize', ORG);
  expect([authorized.code, authorized.out]).toEqual([0, expect.stringMatching(/one webhook is notified\ndata source \S+ is registered/u)]);
  const written = await tell('token', ORG, '--out', tokenFile);
  const token = readFileSync(tokenFile, 'utf8').trim();
  expect([written.code, modeOf(tokenFile), token.split('.').length]).toEqual([0, 0o600, 3]);
  expect(await isLetIn(grpc, tokenFile)).toBe(true);
  // J-2E
  const socketFile = path.join(folder, 'socket.jws');
  const toFile = ['--transport', 'websocket', '--out', socketFile];
  await until('the data source for WebSocket is registered', async () => (await tell('token', ORG, ...toFile)).code === 0);
  expect([await isLetIn(socket, socketFile), await isLetIn(socket, tokenFile), await isLetIn(grpc, socketFile)]).toEqual([
    true,
    false,
    false,
  ]);

  const { out: status } = await tell('status');
  for (const words of [ORG, 'grpc', 'websocket', 'active', 'authorized', 'deauthorized']) expect(status).toContain(words);
  expect(await tell('deauthorize', ORG)).toMatchObject({ code: 0, out: expect.stringContaining('one webhook is notified') as string });
  await until(
    'the server has forgotten the organization',
    async () => !(await isLetIn(grpc, tokenFile)) && !(await isLetIn(socket, socketFile)),
  );

  const secrets = [
    token,
    readFileSync(socketFile, 'utf8').trim(),
    readFileSync(keyFile, 'utf8').trim(),
    readFileSync(controlKeyFile, 'utf8'),
  ];
  secrets.push(...[...readFileSync(config, 'utf8').matchAll(/client_secret: (\S+)/gu)].map((match) => match[1] ?? ''));
  expect(secrets.map((secret) => secret.length > 20)).toEqual([true, true, true, true, true, true]);
  server.signal('SIGTERM');
  platform.signal('SIGINT');
  expect([(await server.ended()).code, (await platform.ended()).code]).toEqual([0, 0]);
  const lines = platform.stdout.split('\n').map((line) => line.split(/ {2,}/u).slice(1, 5).join(' '));
  for (const line of [
    'somebody 303 POST /authorize',
    'integration 200 POST /access_token',
    'integration 200 POST /webhooks',
    `platform 202 POST http://127.0.0.1:${String(webhookPort)}/webhooks`,
    'service app 200 POST /dataSources',
    'you 200 POST /_control/authorize',
    'somebody 200 GET /idb/oauth2/v2/keys/verificationjwk',
  ]) {
    expect(lines, platform.stdout).toContain(line);
  }
  const shown = [platform.stdout, platform.stderr, server.stdout, server.stderr, status, authorized.out, written.out, printed].join('\n');
  for (const secret of secrets) expect(shown).not.toContain(secret);
  const after = await tell('status');
  expect([after.code, after.err]).toEqual([1, expect.stringContaining('no fake platform of yours runs on port')]);
}, 120_000);

it('writes the configuration of a server behind a proxy, and the commands that go through it', async () => {
  const [port = 0] = await freePorts(1);
  const config = path.join(folder, 'proxied.yaml');
  const urls = [
    '--server-url=https://localhost:8443',
    '--websocket-url=wss://localhost:8443',
    '--webhook-url=https://localhost:8443/webhooks',
  ];
  const platform = kept(new ParleyProcess(['platform', `--port=${String(port)}`, '--config-out', config, '--websocket=8088', ...urls]));
  await platform.said('the platform is ready', () => platform.stdout.includes('Ctrl-C'));
  const { settings } = loadSettings({ argv: [`--config=${config}`], env: {} });
  expect(settings.admin.dataSources).toMatchObject({ url: 'https://localhost:8443', websocketUrl: 'wss://localhost:8443' });
  expect(settings.admin.webhooks).toMatchObject({ targetUrl: 'https://localhost:8443/webhooks', port: 8089 });
  expect([settings.grpc.port, settings.tls.mode]).toEqual([8086, 'off']);
  expect(platform.stdout).toContain('parley call grpcs://localhost:8443 --org');
  expect(platform.stdout).toContain('parley call wss://localhost:8443 --org');
}, 60_000);

it('refuses an address of another kind before anything is started', async () => {
  const { code, err } = await runCommand(platformCommand(), ['--server-url', 'localhost:8443', '--port', '0']);
  expect([code, err]).toEqual([2, expect.stringContaining('must be an address that begins with http:// or https://')]);
});
