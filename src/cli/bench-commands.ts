// The commands of the fake platform: they live in its room, are loaded when they are asked for, and get here what that room may not
// import. An image for production leaves the room out; each of them says so there.
import { appendFile, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { EXIT } from '../base/terminal/failure.ts';
import { processSurroundings } from '../base/terminal/surroundings.ts';
import type { CallSurroundings } from '../fake-platform/cli/call-surroundings.ts';

type LoadCommand = () => Promise<Command>;

const LOADERS: Readonly<Record<string, LoadCommand>> = {
  call: async () => (await import('../fake-platform/cli/call.ts')).callCommand(callSurroundings()),
  test: async () => (await import('../fake-platform/cli/test.ts')).testCommand(callSurroundings()),
  conformance: async () => (await import('../fake-platform/cli/conformance.ts')).conformanceCommand(callSurroundings()),
  load: loadCommand,
  platform: async () => (await import('../fake-platform/cli/platform.ts')).platformCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
};

/** All of them by name, in the order of the help. */
export const BENCH_COMMANDS: ReadonlyMap<string, LoadCommand> = new Map(
  Object.entries(LOADERS).map(([name, load]) => [name, () => load().catch((thrown: unknown) => leftOut(name, thrown))]),
);

async function loadCommand(): Promise<Command> {
  const [{ loadCommand: command }, { startWorkerProcess }] = await Promise.all([
    import('../fake-platform/cli/load.ts'),
    import('../fake-platform/load/worker-process.ts'),
  ]);
  return command({
    ...callSurroundings(),
    startWorker: startWorkerProcess,
    touchFile: (file) => appendFile(file, ''),
    writeFile: (file, text) => writeFile(file, text),
  });
}

/** This process, and a voice for the caller that is loaded when it speaks. */
function callSurroundings(): CallSurroundings {
  return { ...processSurroundings(), openVoice: async () => (await import('./caller-voice.ts')).callerVoice() };
}

/** A command that is not there. @throws what made it fail, where that is something else. */
function leftOut(name: string, thrown: unknown): Command {
  if (!isMissingBench(thrown)) throw thrown;
  const command = new Command(name).description('not part of this image: run it from the package');
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() =>
      command.error(`error: ${name} calls a server as the platform does, and is not part of this image; run it from the package`, {
        exitCode: EXIT.failed,
      }),
    );
}

/** Whether something could not be loaded because the fake platform is not part of this image. */
export function isMissingBench(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND' && thrown.message.includes('fake-platform');
}
