// `parley calls listen`: the audio of a call as a file.
import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { tracksOf } from '../../recording/tracks.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { pcmWav } from '../../speech/wav.ts';
import { callsCommand, openRecording, print, WHICH_CALL } from './recordings.ts';

export function listenCommand(): Command {
  const command = callsCommand(new Command('listen'), 'listen 20261128T172234-5f0c19ab --out call.wav --config my.yaml')
    .description('write what was heard into a stereo WAV file: the caller left, the bot right')
    .argument('<call>', WHICH_CALL)
    .requiredOption('--out <file>', 'the WAV file');
  return command.action(async (_call: string, { out }: { readonly out: string }) => {
    const { id, recording } = await openRecording(command, 'listen');
    const { caller, bot } = tracksOf(recording);
    await writeFile(out, pcmWav([caller, bot], LINE_RATE_HZ), { mode: 0o600 });
    const durationMs = Math.round((1000 * caller.length) / LINE_RATE_HZ);
    print(command, { id, file: out, durationMs }, `${out}  ${(durationMs / 1000).toFixed(1)} s of ${id}`);
  });
}
