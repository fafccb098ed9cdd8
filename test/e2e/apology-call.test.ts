// `parley call` to a real server whose bot throws: a call on which the caller has heard the server's apology is no good one. And to one
// that understands nobody, which it says with the remedy.
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import { callCommand } from '../../src/fake-platform/cli/call.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { RunningServer } from '../support/running-server.ts';
import { WITH_SOCKETS } from '../support/socket-peer.ts';

const BROKEN = botModule('broken', `session_start: () => { throw new Error('no such file'); },`);

/** A developer's server with this bot, or another. */
async function serve(flags: readonly string[] = [], module = BROKEN): Promise<RunningServer> {
  const folder = await makeFolder({ 'bot.mjs': module });
  onTestFinished(() => removeFolder(folder));
  const server = await RunningServer.start({
    hasTls: false,
    flags: ['--auth.enabled=false', ...WITH_SOCKETS, `--bots.folder=${folder}`, ...flags],
  });
  onTestFinished(() => server.close());
  await server.app.warmed;
  return server;
}

/** `parley call` until its end. */
async function call(target: string, ...flags: readonly string[]): Promise<{ readonly code: number | undefined; readonly text: string }> {
  const lines: string[] = [];
  let code: number | undefined;
  const command = callCommand({
    ...{ clock: systemClock, isColoured: false, openVoice: callerVoice },
    print: (line) => lines.push(line),
    complain: () => undefined,
    setExitCode: (set) => (code = set),
    onInterrupt: () => () => undefined,
  });
  await command.parseAsync([target, '--org', 'ce861fba-6e2f-49f9-9a84-b354008fac9e', ...flags], { from: 'user' });
  return { code, text: lines.join('\n') };
}

const REVEALING = '--media.reveal_prompt_text=true';

it.each(['grpc', 'ws'] as const)(
  'parley call over %s exits with 1 when the welcome was the apology for a bot that failed',
  async (wire) => {
    const server = await serve([REVEALING]);
    const { ready } = server.app;
    const target = `${wire}://127.0.0.1:${String(wire === 'grpc' ? ready.port : ready.websocket?.port)}`;
    const { code, text } = await call(target);
    expect(text).toMatch(/server {4}apologizes +#1 +its bot failed/u);
    expect(text).toContain('not ok');
    expect(text).toContain('unmet  a reply of the bot: the reply to session_start (#1) is the apology for a bot that failed');
    expect(code).toBe(1);
    const expected = await call(target, '--expect', 'apology');
    expect(expected.text).not.toContain('unmet');
    expect(expected.code).toBe(0);
  },
);

it('a server that does not reveal its texts does not show its apology on the wire', async () => {
  const server = await serve();
  const { code, text } = await call(`grpc://127.0.0.1:${String(server.app.ready.port)}`);
  expect(text).not.toContain('apolog');
  expect(code).toBe(0);
});

it('parley call that expects an apology exits with 1 when the bot answers', async () => {
  const server = await serve([REVEALING], botModule('well'));
  const { code, text } = await call(`grpc://127.0.0.1:${String(server.app.ready.port)}`, '--expect', 'apology');
  expect(text).toContain('unmet  apology: no reply was named an apology');
  expect(code).toBe(1);
});

it('parley call says that nobody recognizes what the bot wants to know, and what helps', async () => {
  const listening = `session_start: () => go({}, say('Yes?').listen()), speech_input: () => go({}, say('Goodbye.').end()),`;
  const { ready } = (await serve([REVEALING], botModule('menu', listening))).app;
  const { code, text } = await call(`ws://127.0.0.1:${String(ready.websocket?.port)}`, '--say', 'Tuesday, please');
  const remedy = 'the bot wants the words and gets none: set recognizer.engine, or start `parley models` and call with --models';
  expect(text).toMatch(new RegExp(`server {4}has no recognizer +#\\d +${remedy}`, 'u'));
  expect(text).toContain(`\n  no recognizer: ${remedy}`);
  expect(code).toBe(0);
});
