// `parley platform`: a fake platform for development on this machine, which runs until Ctrl-C and shows the requests it receives.
// Its sub-commands, each in its own file, act as an administrator or another user of a platform, or cause failures.
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { CONTROL_PREFIX } from '../platform/control-wire.ts';
import type { JournalEntry } from '../platform/journal.ts';
import { processSurroundings } from '../../base/terminal/surroundings.ts';
import { authorizeCommand, deauthorizeCommand } from './platform/authorize.ts';
import { breakCommand, mendCommand } from './platform/break.ts';
import { PLATFORM_PORT, portNumber } from './platform/control-command.ts';
import { keepControlKey, newControlKey } from './platform/control-key.ts';
import { writeServerConfig } from './platform/server-config.ts';
import { startPlatform, type FakePlatform } from './platform/start-platform.ts';
import { statusCommand } from './platform/status.ts';
import { deliveryEvent, eventLine, keysEvent, requestEvent, type PlatformEvent } from './platform/timeline-lines.ts';
import { tokenCommand } from './platform/token.ts';

interface Flags {
  readonly port?: number;
  readonly configOut?: string;
  readonly serverPort: number;
  readonly websocket?: number;
  readonly webhookPort: number;
  readonly serverUrl?: string;
  readonly websocketUrl?: string;
  readonly webhookUrl?: string;
  readonly redirectUri: string;
  readonly json?: true;
}

/** An organization for the examples; any other UUID works, too. */
const ORGANIZATION = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';

const EXAMPLES = `
Examples:
  $ parley platform --config-out parley.platform.yaml
  $ parley platform --config-out parley.platform.yaml --server-url https://localhost:8443   (a proxy ends TLS before the server)
  $ parley platform authorize ${ORGANIZATION}
  $ parley platform break 429 --retry-after 3`;

export function platformCommand(): Command {
  const command = new Command('platform')
    .description('run a fake platform on this machine until Ctrl-C: login, tokens, data sources, webhooks')
    .option('--port <n>', `port on 127.0.0.1; 0 takes a free one (default: ${String(PLATFORM_PORT)})`, portNumber)
    .option('--config-out <file>', 'write the configuration of a server that belongs to it')
    .option('--server-port <n>', 'port of that server', portNumber, 8086)
    .option('--websocket <n>', 'let that server take calls over WebSocket as well, on this port', portNumber)
    .option('--webhook-port <n>', 'port on which that server takes deliveries', portNumber, 8089)
    .option('--server-url <url>', 'where that server is called: the address of a proxy before it', addressOf('http:', 'https:'))
    .option('--websocket-url <url>', 'the same for calls over WebSocket', addressOf('ws:', 'wss:'))
    .option('--webhook-url <url>', 'the same for deliveries, with its path', addressOf('http:', 'https:'))
    .option('--redirect-uri <uri>', 'where a browser comes back to after a login', 'http://127.0.0.1:8765/callback')
    .option('--json', 'print JSON lines')
    // Sub-commands have their own --port.
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLES);
  for (const part of [authorizeCommand(), deauthorizeCommand(), statusCommand(), tokenCommand(), breakCommand(), mendCommand()]) {
    command.addCommand(part.exitOverride());
  }
  return command.action(runPlatform);
}

async function runPlatform(flags: Flags): Promise<void> {
  const { onInterrupt, print, isColoured } = processSurroundings();
  let forget: () => void = () => undefined;
  const interrupted = new Promise<void>((resolve) => {
    forget = onInterrupt(resolve);
  });
  try {
    await platformUntil(interrupted, flags, print, isColoured);
  } finally {
    // Otherwise the process would stay alive after a failed start.
    forget();
  }
}

/** Runs the platform until Ctrl-C. @throws AppError when it cannot start. */
async function platformUntil(interrupted: Promise<void>, flags: Flags, print: (line: string) => void, isColoured: boolean): Promise<void> {
  const line = eventLine(flags.json === true, isColoured);
  const report = (event: PlatformEvent): void => print(line(event, systemClock.nowMs()));
  const controlKey = newControlKey();
  const platform = await startPlatform({
    ...{ port: flags.port ?? PLATFORM_PORT, redirectUri: flags.redirectUri, controlKey },
    observer: {
      requested: (entry) => {
        if (!isOwnRequest(entry)) report(requestEvent(entry));
      },
      delivered: (delivery) => report(deliveryEvent(delivery)),
    },
    onKeysAsked: (request) => report(keysEvent(request)),
  });
  try {
    const port = Number(new URL(platform.api.origin).port);
    const forgetKey = await keepControlKey(port, controlKey);
    try {
      if (flags.configOut !== undefined) await writeConfig(path.resolve(flags.configOut), platform, flags);
      print(flags.json === true ? JSON.stringify(readyData(platform, port, flags)) : readyText(platform, port, flags));
      await interrupted;
    } finally {
      await forgetKey();
    }
  } finally {
    await platform.close();
  }
}

/** Whether a request only polls the status: our commands do this all the time, and it changes nothing. */
function isOwnRequest({ asker, path: asked, status }: JournalEntry): boolean {
  return asker?.kind === 'control' && asked === `${CONTROL_PREFIX}/status` && status === 200;
}

function writeConfig(file: string, platform: FakePlatform, flags: Flags): Promise<void> {
  const { serverPort, websocket, webhookPort, webhookUrl, redirectUri } = flags;
  return writeServerConfig(file, platform, {
    ...{ grpcPort: serverPort, webhookPort, webhookUrl, redirectUri },
    url: flags.serverUrl ?? `http://127.0.0.1:${String(serverPort)}`,
    ...(websocket !== undefined && { websocket: { port: websocket, url: socketAddress(websocket, flags) } }),
    // Plaintext is for loopback only, and tokens are still checked; a timeline can show the texts of prompts.
    more: { tls: { mode: 'off' }, media: { reveal_prompt_text: true } },
  });
}

function readyData({ api, issuer }: FakePlatform, port: number, flags: Flags) {
  return { event: 'ready', port, baseUrl: api.baseUrl, issuer: issuer.issuer, config: flags.configOut, next: nextCommands(port, flags) };
}

function readyText({ api, issuer }: FakePlatform, port: number, flags: Flags): string {
  const config = flags.configOut ?? 'none: --config-out FILE writes one for a server';
  const facts = [`platform  ${api.baseUrl}`, `tokens    ${issuer.issuer}`, `config    ${config}`];
  const commands = nextCommands(port, flags).map((next) => `  $ ${next}`);
  const ending = 'Ctrl-C ends it, and with it everything it knows.';
  return [...facts, '', 'Next, in other terminals:', ...commands, '', ending, ''].join('\n');
}

function socketAddress(port: number, { websocketUrl }: Flags): string {
  return websocketUrl ?? `ws://127.0.0.1:${String(port)}`;
}

/** The address that `parley call` takes, made from the registered one. */
function callAddress({ serverUrl, serverPort }: Flags): string {
  return serverUrl === undefined ? `grpc://127.0.0.1:${String(serverPort)}` : serverUrl.replace(/^http/u, 'grpc');
}

/** Reads an address that is registered as it is, character for character (J-19); only with one of these schemes. */
function addressOf(...schemes: readonly string[]): (text: string) => string {
  return (text) => {
    if (!URL.canParse(text) || !schemes.includes(new URL(text).protocol)) {
      throw new InvalidArgumentError(`It must be an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}.`);
    }
    return text;
  };
}

/** The commands that lead from here to a call. */
function nextCommands(port: number, flags: Flags): readonly string[] {
  const { configOut, websocket } = flags;
  const on = port === PLATFORM_PORT ? '' : ` --port ${String(port)}`;
  if (configOut === undefined) return [`parley platform status${on}`];
  const call = (address: string, tokenFile: string): string =>
    `parley call ${address} --org ${ORGANIZATION} --token-file ${tokenFile} --press 1`;
  return [
    `parley admin login --config ${configOut}`,
    `parley serve --config ${configOut}`,
    `parley platform authorize ${ORGANIZATION}${on}`,
    `parley platform token ${ORGANIZATION}${on}`,
    call(callAddress(flags), 'token.jws'),
    ...(websocket === undefined
      ? []
      : [
          `parley platform token ${ORGANIZATION} --transport websocket --out socket.jws${on}`,
          call(socketAddress(websocket, flags), 'socket.jws'),
        ]),
  ];
}
