// `parley serve`: runs the server until it is stopped, in one process or in several.
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { loadSettings, type LoadedSettings } from '../app/config/load-settings.ts';
import { PrimaryLink } from '../app/workers/primary-link.ts';
import { keepTicksFast } from '../base/fast-ticks.ts';
import { wholeNumberFrom } from '../base/terminal/option-values.ts';
import { acceptSettings, settingsArguments } from './settings-arguments.ts';
import type { Serving } from './serve/serving.ts';

const MAX_WORKERS = 64;

interface ServeOptions {
  readonly json?: true;
  readonly workers: number;
}

/** The command. @param leave - ends the process soon, even when a loaded bot keeps a timer or a socket open. */
export function serveCommand(leave: () => void): Command {
  const command = acceptSettings(new Command('serve'))
    .description('run the server until SIGTERM or SIGINT; open turns are finished first. SIGHUP reloads')
    .option('--json', 'print the ready line as JSON')
    .option('--workers <number>', 'processes that take calls, or auto for one per core; more than 1 need store.kind redis', workersOf, 1)
    .addHelpText(
      'after',
      '\nExample: a server for a laptop, without TLS and token check\n  $ parley serve --grpc.host=127.0.0.1 --tls.mode=off --auth.enabled=false' +
        '\n\nExample: a server that uses all cores of its machine\n  $ parley serve --config production.yaml --workers auto',
    );
  return command.action(async (options: ServeOptions) => {
    keepTicksFast();
    // Installed first, because SIGHUP ends a process without a listener. The listener that reloads comes later.
    process.on('SIGHUP', () => undefined);
    const load = (): LoadedSettings => loadSettings({ argv: settingsArguments(command) });
    await serve({ loaded: load(), load, isJson: options.json === true, leave }, options.workers);
  });
}

// Each variant loads only what it needs: the primary process needs no engine.
async function serve(serving: Serving, workers: number): Promise<void> {
  if (workers === 1) {
    const { serveAlone } = await import('./serve/alone.ts');
    await serveAlone(serving);
    return;
  }
  const link = PrimaryLink.find();
  if (link === undefined) {
    const { serveWithWorkers } = await import('./serve/with-workers.ts');
    await serveWithWorkers(serving, workers);
  } else {
    const { serveAsWorker } = await import('./serve/as-worker.ts');
    await serveAsWorker(serving, link);
  }
}

function workersOf(text: string): number {
  return text === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : wholeNumberFrom(1, MAX_WORKERS)(text);
}
