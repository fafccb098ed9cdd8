// `parley dev`: a server with the bots of the project, on this machine alone, until Ctrl-C. On its page a developer calls the bots, by
// voice and keys or with typed words, and sees what happens.
import { Command } from 'commander';
import { wholeNumberFrom } from '../base/terminal/option-values.ts';
import type { CallSurroundings } from '../fake-platform/cli/call-access.ts';
import { modelScriptIn } from '../fake-platform/cli/models.ts';
import type { ModelScript } from '../fake-platform/models/script.ts';
import { startDev } from './dev/start-dev.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';

interface Flags {
  readonly bots?: string;
  readonly port: number;
  readonly models?: string;
  readonly script?: ModelScript;
  readonly json?: true;
}

const PAGE_PORT = 8085;

/** The command. `leave` ends the process soon, even when a loaded bot keeps a timer or a socket open. */
export function devCommand(surroundings: CallSurroundings, leave: () => void): Command {
  const command = acceptSettings(new Command('dev'))
    .description('talk to your bots in the browser: a server that takes up every change of them, and a page that calls it')
    .option('--bots <folder>', 'the bots; the same as --bots.folder')
    .option('--port <n>', 'port of the page on 127.0.0.1; 0 takes a free one', wholeNumberFrom(0, 65_535), PAGE_PORT)
    .option('--models <url>', 'fake models that run already, see `parley models` (default: own ones)')
    .option('--script <file>', 'what the own fake models hear and answer (default: what the bundled appointments bot needs)', modelScriptIn)
    .option('--json', 'print the ready line as JSON')
    .addHelpText('after', '\nExample:\n  $ parley dev --bots ./bots');
  return command.action(async (flags: Flags) => {
    await runDev(command, flags, surroundings);
    leave();
  });
}

async function runDev(command: Command, { bots, port, models, script, json }: Flags, surroundings: CallSurroundings): Promise<void> {
  let forget: () => void = () => undefined;
  const interrupted = new Promise<void>((resolve) => {
    forget = surroundings.onInterrupt(resolve);
  });
  const voice = await surroundings.openVoice();
  try {
    const argv = [...settingsArguments(command), ...(bots === undefined ? [] : [`--bots.folder=${bots}`])];
    const dev = await startDev({ argv, port, modelsUrl: models, modelScript: script, voice, clock: surroundings.clock });
    const { page, ready } = dev;
    surroundings.print(
      json === true
        ? JSON.stringify({ event: 'ready', page, ...ready })
        : `ready  ${page}  the page on which you call your bots; Ctrl-C ends it`,
    );
    await interrupted;
    await dev.close();
  } finally {
    await voice.close();
    forget();
  }
}
