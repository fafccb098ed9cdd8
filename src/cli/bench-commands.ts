// The commands of the fake platform. They are loaded on demand, and receive here what src/fake-platform may not import. A production image
// leaves src/fake-platform out; each command then says so.
import { appendFile, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { EXIT } from '../base/terminal/failure.ts';
import { processSurroundings } from '../base/terminal/surroundings.ts';
import type { CallSurroundings } from '../fake-platform/cli/call-access.ts';
import type { WriteScenario } from '../fake-platform/cli/test.ts';

/** `leaveSoon` ends the process, even when a loaded bot keeps a timer or a socket open. */
type LoadCommand = (leaveSoon: () => void) => Promise<Command>;

const LOADERS: Readonly<Record<string, LoadCommand>> = {
  dev: async (leaveSoon) => (await import('./dev.ts')).devCommand(callSurroundings(), leaveSoon),
  call: async () => (await import('../fake-platform/cli/call.ts')).callCommand(callSurroundings()),
  test: async () => {
    const writeScenario: WriteScenario = async (...of) => (await import('./test-from.ts')).writeScenario(...of);
    return (await import('../fake-platform/cli/test.ts')).testCommand(callSurroundings(), writeScenario);
  },
  eval: async (leaveSoon) => (await import('./eval.ts')).evalCommand(callSurroundings(), leaveSoon),
  conformance: async () => (await import('../fake-platform/cli/conformance.ts')).conformanceCommand(callSurroundings()),
  load: loadCommand,
  platform: async () => (await import('../fake-platform/cli/platform.ts')).platformCommand(),
  models: async () => (await import('../fake-platform/cli/models.ts')).modelsCommand(processSurroundings()),
  demo: async () => (await import('./demo.ts')).demoCommand(),
};

/** All commands of the fake platform by name, in the order of the help. */
export const BENCH_COMMANDS: ReadonlyMap<string, LoadCommand> = new Map(
  Object.entries(LOADERS).map(([name, load]) => [
    name,
    (leaveSoon: () => void) => load(leaveSoon).catch((thrown: unknown) => leftOut(name, thrown)),
  ]),
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

/** The process interface of the CLI, and a caller's voice that is loaded when it is first used. */
function callSurroundings(): CallSurroundings {
  return { ...processSurroundings(), openVoice: async () => (await import('./caller-voice.ts')).callerVoice() };
}

/** A placeholder for a missing command. @throws the load error when the command exists but cannot be loaded. */
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

/** Whether loading failed because the fake platform is not part of this image. */
export function isMissingBench(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND' && thrown.message.includes('fake-platform');
}
