// `parley calls export`: a call as one file: sealed as in the folder, unsealed, or as a page that needs no network.
import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { callPage } from '../../recording/call-page.ts';
import { shownSound, viewOf } from '../../recording/call-view.ts';
import { unsealed } from '../../recording/read-recording.ts';
import type { Recording } from '../../recording/recording.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import { mulawWav } from '../../speech/wav.ts';
import { callsCommand, openRecording, print, WHICH_CALL } from './recordings.ts';

interface Flags {
  readonly to: string;
  readonly html?: true;
  readonly unsealed?: true;
}

export function exportCommand(): Command {
  const command = callsCommand(new Command('export'), 'export 20261128T172234-5f0c19ab --html --to call.html --config my.yaml')
    .description('write a recorded call into one file; without --unsealed or --html only the keys of recordings.keys open it')
    .argument('<call>', WHICH_CALL)
    .requiredOption('--to <file>', 'the file')
    .option('--html', 'a page that shows and plays the call without network')
    .addOption(new Option('--unsealed', 'a recording that everybody can open, for a replay on another machine').conflicts('html'));
  return command.action(async (_call: string, { to, html, unsealed: isOpen }: Flags) => {
    const { id, file, keys, recording } = await openRecording(
      command,
      html === true ? 'export_page' : isOpen === true ? 'export_unsealed' : 'export',
    );
    const content = html === true ? await pageOf(recording) : isOpen === true ? unsealed(file, keys) : file;
    await writeFile(to, content, { mode: 0o600 });
    print(command, { id, file: to }, `${to}  ${id}`);
  });
}

/** The page, which contains the call's audio. */
function pageOf(recording: Recording): Promise<string> {
  const sound = shownSound(
    recording,
    (samples) => `data:audio/wav;base64,${Buffer.from(mulawWav(encodeMulaw(samples))).toString('base64')}`,
  );
  return callPage(viewOf(recording, sound));
}
