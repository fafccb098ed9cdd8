// `parley replay`: replays recorded calls with the current bots. The exit code says whether they go as recorded.
import path from 'node:path';
import { Command, Option } from 'commander';
import pc from 'picocolors';
import { botsFolder } from '../app/bot-folders.ts';
import { loadSections } from '../app/config/load-settings.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { misuseOf } from '../base/terminal/misuse.ts';
import { wholeNumberFrom } from '../base/terminal/option-values.ts';
import { progressView } from '../base/terminal/progress-view.ts';
import { processSurroundings, type CommandSurroundings } from '../base/terminal/surroundings.ts';
import { loadBots } from '../bot/loader.ts';
import { recordingKeys } from './replay/recording-keys.ts';
import { replayFile, type ReplayResult } from './replay/replay-call.ts';
import { resultLines } from './replay/replay-text.ts';
import { acceptSettings, operandsOf, settingsArguments } from './settings-arguments.ts';

interface Flags {
  readonly bots?: string;
  readonly models: 'recorded' | 'live';
  readonly slowerBy?: number;
  readonly json?: true;
}

const EXAMPLES = `
The caller does the same at the same times; what recognizer, voice, models and tools answered comes from the recording, and nobody waits.
Bots run as in a call: what they ask themselves, without a tool, is really asked.

Examples:
  $ parley replay calls/20261128T172234-5f0c19ab.parley-call
  $ parley replay calls/*.parley-call --bots bots --slower-by 300
  $ parley replay call.parley-call --models live --json

Exit code: 0 all calls go as they went, 1 one does not or cannot be replayed, 2 wrong usage, 130 interrupted.`;

const HOUR_MS = 3_600_000;

/** @param leave - ends the process soon, even when a loaded bot keeps a timer or a socket open. */
export function replayCommand(leave: () => void, surroundings: CommandSurroundings = processSurroundings()): Command {
  const command = acceptSettings(new Command('replay'))
    .description('play recorded calls again with the bots of today, and say where they go otherwise')
    .argument('<files...>', 'recordings that end in .parley-call')
    .option('--bots <folder>', 'the bots, the same as --bots.folder (default: the setting)')
    .addOption(
      new Option('--models <whose>', 'answers of models and tools of assistants: of the recording, or really asked')
        .choices(['recorded', 'live'])
        .default('recorded'),
    )
    .option('--slower-by <ms>', 'a reply whose sound begins so much later is different, too', wholeNumberFrom(1, HOUR_MS))
    .option('--json', 'print JSON lines: one for each call, then a summary')
    .addHelpText('after', EXAMPLES);
  return command.action(async (_files: readonly string[], flags: Flags) => {
    try {
      await run(command, flags, surroundings);
    } finally {
      leave();
    }
  });
}

async function run(command: Command, { bots: folder, models, slowerBy, json }: Flags, surroundings: CommandSurroundings): Promise<void> {
  const files = operandsOf(command);
  const argv = settingsArguments(command);
  const own = folder === undefined ? argv : [...argv, `--bots.folder=${path.resolve(folder)}`];
  const options = {
    bots: await loadBots(botsFolder(loadSections({ argv: own }, 'bots').settings.bots)),
    ...{ keys: recordingKeys(argv), models },
    ...(slowerBy !== undefined && { laterMs: slowerBy }),
  };
  const stop = new AbortController();
  const forget = surroundings.onInterrupt(() => {
    stop.abort();
  });
  const colors = pc.createColors(surroundings.isColoured);
  const view = progressView(surroundings);
  const complain = (line: string): void => {
    view.say(line);
  };
  const results: ReplayResult[] = [];
  try {
    for (const file of files) {
      if (stop.signal.aborted) break;
      view.show(results.length, files.length, `calls, ${String(results.filter(isDifferent).length)} different  ${path.basename(file)}`);
      const result = await replayFile(file, { ...options, complain }).catch(misuseOf(command));
      results.push(result);
      view.stop();
      surroundings.print(json === true ? JSON.stringify(result) : resultLines(result, colors).join('\n'));
    }
  } finally {
    view.stop();
    forget();
  }
  const different = results.filter(isDifferent).length;
  const summary = { ok: different === 0, calls: results.length, different };
  if (json === true) surroundings.print(JSON.stringify({ summary }));
  else if (results.length > 1) surroundings.print(`${String(results.length)} calls, ${String(different)} different`);
  surroundings.setExitCode(stop.signal.aborted ? EXIT.interrupted : different === 0 ? EXIT.ok : EXIT.failed);
}

function isDifferent(result: ReplayResult): boolean {
  return 'error' in result || result.differences.length > 0;
}
