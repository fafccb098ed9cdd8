// `parley dev`: a server with the bots of the project, and a page on which a developer calls them, by voice and keys or with typed words, and
// sees what happens. On this machine alone, until Ctrl-C.
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { consoleFile } from '../base/console-files.ts';
import { wholeNumberFrom } from '../base/terminal/option-values.ts';
import type { CallSurroundings } from '../fake-platform/cli/call-surroundings.ts';
import { readModelScript, type ModelScript } from '../fake-platform/models/script.ts';
import { loadProfile } from '../fake-platform/platform/profile.ts';
import { startSoftphone, type PageFile } from '../fake-platform/softphone/softphone.ts';
import { startDevServer } from './dev/dev-server.ts';
import { ShownCalls } from './dev/shown-calls.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';

interface Flags {
  readonly bots?: string;
  readonly port: number;
  readonly models?: string;
  readonly script?: ModelScript;
  readonly json?: true;
}

const PAGE_PORT = 8085;
/** The organization of the calls; nobody checks it. */
const ORGANIZATION = 'laptop';

/** The command. `leave` ends the process soon, although a loaded bot may keep it busy. */
export function devCommand(surroundings: CallSurroundings, leave: () => void): Command {
  const command = acceptSettings(new Command('dev'))
    .description('talk to your bots in the browser: a server that takes up every change of them, and a page that calls it')
    .option('--bots <folder>', 'the bots; the same as --bots.folder')
    .option('--port <n>', 'port of the page on 127.0.0.1; 0 takes a free one', wholeNumberFrom(0, 65_535), PAGE_PORT)
    .option('--models <url>', 'fake models that run already, see `parley models` (default: own ones)')
    .option('--script <file>', 'what the own fake models hear and answer (default: what the bundled appointments bot needs)', scriptIn)
    .option('--json', 'print the ready line as JSON')
    .addHelpText('after', '\nExample:\n  $ parley dev --bots ./bots');
  return command.action(async (flags: Flags) => {
    await runDev(command, flags, surroundings);
    leave();
  });
}

async function runDev(command: Command, flags: Flags, surroundings: CallSurroundings): Promise<void> {
  const { bots, port, models, script, json } = flags;
  let forget: () => void = () => undefined;
  const interrupted = new Promise<void>((resolve) => {
    forget = surroundings.onInterrupt(resolve);
  });
  const shown = new ShownCalls(surroundings.clock);
  const voice = await surroundings.openVoice();
  try {
    const argv = [...settingsArguments(command), ...(bots === undefined ? [] : [`--bots.folder=${bots}`])];
    const observed = shown.observers.bind(shown);
    const server = await startDevServer({ argv, modelsUrl: models, modelScript: script, observed });
    try {
      const { ready, modelsUrl } = server;
      const targets = { grpc: `grpc://${ready.address}`, websocket: `ws://${ready.websocket?.address ?? ''}` };
      const softphone = await startSoftphone({
        ...{ port, voice, modelsUrl, clock: surroundings.clock, file: pageFile },
        access: (transport) => ({ target: targets[transport], profile: loadProfile('fake'), organizationId: ORGANIZATION }),
        watch: (conversationId, messages) => shown.watch(conversationId, messages),
        sound: (conversationId, side) => shown.sound(conversationId, side),
      });
      const page = softphone.url;
      surroundings.print(json === true ? JSON.stringify({ event: 'ready', page, ...ready }) : `call your bots at  ${page}`);
      await interrupted;
      await softphone.close();
    } finally {
      await server.close();
    }
  } finally {
    await voice.close();
    forget();
  }
}

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css', txt: 'text/plain' };

async function pageFile(path: string): Promise<PageFile | undefined> {
  const name = path === '/' ? 'softphone.html' : path.slice(1);
  const body = await consoleFile(name);
  return body === undefined ? undefined : { body, type: `${TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain'}; charset=utf-8` };
}

function scriptIn(file: string): ModelScript {
  try {
    return readModelScript(readFileSync(file, 'utf8'));
  } catch (thrown) {
    throw new InvalidArgumentError(thrown instanceof Error ? thrown.message : 'It cannot be read.');
  }
}
