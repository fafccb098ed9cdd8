// `parley calls list`: the recordings of the folder.
import { Command } from 'commander';
import { alignedRows } from '../../base/terminal/table.ts';
import type { KeptRecording } from '../../recording/recording-folder.ts';
import { isoTime } from '../admin/time-text.ts';
import { callsCommand, print, recordingsOf } from './recordings.ts';

const HEADINGS = ['RECORDING', 'BEGAN', 'LENGTH', 'BOT', 'TURNS', 'END', 'SIZE', 'CONVERSATION'];
const UNKNOWN = '-';

export function listCommand(): Command {
  const command = callsCommand(new Command('list'), 'list --config my.yaml').description(
    'list the recorded calls, the newest first; those without an end go on, or were cut',
  );
  return command.action(async () => {
    const { folder, path } = recordingsOf(command);
    const kept = await folder.list();
    const text = kept.length === 0 ? `no recordings in ${path}` : alignedRows([HEADINGS, ...kept.map(rowOf)]);
    print(command, kept.map(shown), text);
  });
}

function shown({ id, bytes, header, summary }: KeptRecording): object {
  if (header === undefined) return { id, bytes, isReadable: false };
  const { conversationId, organizationId, agentId, startedAtMs } = header.call;
  const { end, durationMs, turns } = summary ?? {};
  return {
    id,
    bytes,
    isReadable: true,
    conversationId,
    organizationId,
    agentId,
    startedAtMs,
    transport: header.transport,
    end,
    durationMs,
    turns,
  };
}

function rowOf({ id, bytes, header, summary }: KeptRecording): readonly string[] {
  const size = bytes < 1e6 ? `${String(Math.ceil(bytes / 1000))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  if (header === undefined) return [id, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 'sealed with another key', size, UNKNOWN];
  const { call } = header;
  const length = summary === undefined ? UNKNOWN : `${(summary.durationMs / 1000).toFixed(1)} s`;
  return [
    id,
    isoTime(call.startedAtMs),
    length,
    call.agentId,
    String(summary?.turns ?? UNKNOWN),
    summary?.end ?? UNKNOWN,
    size,
    call.conversationId,
  ];
}
