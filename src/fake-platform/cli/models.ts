// `parley models`: a scripted language model, recognizer and speech-to-speech model, for assistants on a machine without key or network.
// Runs until Ctrl-C and shows the requests.
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import type { CommandSurroundings } from '../../base/terminal/surroundings.ts';
import { APPOINTMENTS_SCRIPT, readModelScript, type ModelScript } from '../models/script.ts';
import { fakeModels, type ModelRequestEntry } from '../models/start-models.ts';
import { portNumber } from './platform/control-command.ts';

interface Flags {
  readonly script?: ModelScript;
  readonly port: number;
  readonly json?: true;
}

/** Default port: the bundled assistants expect their models there. */
const MODELS_PORT = 8089;
const EXAMPLES = `
Examples:
  $ parley models
  $ parley models --script models.yaml --port 0 --json`;

export function modelsCommand(surroundings: Pick<CommandSurroundings, 'onInterrupt' | 'print'>): Command {
  return new Command('models')
    .description('run a fake language model, recognizer and speech-to-speech model on this machine until Ctrl-C')
    .option('--script <file>', 'what they hear and answer (default: what the bundled appointments bot needs)', modelScriptIn)
    .option('--port <n>', 'port on 127.0.0.1; 0 takes a free one', portNumber, MODELS_PORT)
    .option('--json', 'print JSON lines')
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => runModels(flags, surroundings));
}

async function runModels(
  { script = APPOINTMENTS_SCRIPT, port, json }: Flags,
  { onInterrupt, print }: Pick<CommandSurroundings, 'onInterrupt' | 'print'>,
): Promise<void> {
  let forget: () => void = () => undefined;
  const interrupted = new Promise<void>((resolve) => {
    forget = onInterrupt(resolve);
  });
  try {
    const onRequest = (entry: ModelRequestEntry): void => {
      print(json === true ? JSON.stringify({ event: 'request', ...entry }) : lineOf(entry));
    };
    const models = await fakeModels(script, { port, onRequest });
    const { url, realtimeUrl, transcriptionUrl } = models;
    print(json === true ? JSON.stringify({ event: 'ready', url, realtimeUrl, transcriptionUrl }) : readyText(url));
    await interrupted;
    await models.close();
  } finally {
    forget();
  }
}

/** Parses an option that names a file with a script. @throws InvalidArgumentError. */
export function modelScriptIn(file: string): ModelScript {
  try {
    return readModelScript(readFileSync(file, 'utf8'));
  } catch (thrown) {
    throw new InvalidArgumentError(thrown instanceof Error ? thrown.message : 'It cannot be read.');
  }
}

function readyText(url: string): string {
  return [
    `models  ${url}`,
    '',
    'Next, in other terminals:',
    `  $ MODEL_URL=${url} parley serve --grpc.host=127.0.0.1 --tls.mode=off --auth.enabled=false --recognizer.engine=http --recognizer.http.url=${url} --recognizer.http.model=fake`,
    `  $ parley call grpc://127.0.0.1:8086 --org laptop --agent appointments --say "Anything on Tuesday?" --models ${url}`,
    '',
    'Ctrl-C ends them.',
    '',
  ].join('\n');
}

function lineOf({ on, text, after, say, use, fault }: ModelRequestEntry): string {
  const asked = after === undefined ? `"${text}"` : `${after} returned ${text}`;
  const answered = [say, use === undefined ? undefined : `uses ${use}`].filter((part) => part !== undefined).join(', ');
  const answer = on === 'recognition' ? understood(text, fault) : `  ->  ${answered || 'no rule answers this'}`;
  return `${on.padEnd(11)}  ${asked}${answer}${fault === undefined ? '' : `  (${fault})`}`;
}

function understood(text: string, fault: ModelRequestEntry['fault']): string {
  const isUnknown = text === '' && fault === undefined;
  return isUnknown ? '  ->  nobody told what this sounds like: call with --models, or list it under `heard` in the script' : '';
}
