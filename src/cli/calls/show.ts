// `parley calls show`: one call, turn by turn.
import { Command } from 'commander';
import pc from 'picocolors';
import type { CallView, ShownInput, ShownPrompt, ShownTurn } from '../../dialog/call-view.ts';
import { viewOf } from '../../recording/call-view.ts';
import { isoTime } from '../admin/time-text.ts';
import { callsCommand, openRecording, print, WHICH_CALL } from './recordings.ts';

type Colors = ReturnType<typeof pc.createColors>;
const WITHHELD = '[withheld]';

export function showCommand(): Command {
  const command = callsCommand(new Command('show'), 'show 20261128T172234-5f0c19ab --config my.yaml')
    .description('show a recorded call, turn by turn')
    .argument('<call>', WHICH_CALL);
  return command.action(async () => {
    const { recording } = await openRecording(command, 'show');
    const view = viewOf(recording);
    print(command, view, textOf(view, pc.createColors(command.configureOutput().getOutHasColors?.() ?? false)));
  });
}

function textOf({ call, turns }: CallView, colors: Colors): string {
  const { conversationId, organizationId, agentId, transport = '', startedAtMs, durationMs, end = 'goes on, or was cut' } = call;
  return [
    `${colors.bold(conversationId)}  ${isoTime(startedAtMs)}  ${(durationMs / 1000).toFixed(1)} s  ${end}`,
    colors.dim(`bot ${agentId} version ${String(call.botVersion)}, organization ${organizationId || 'unknown'}, ${transport}`),
    ...turns.flatMap((turn) => ['', ...turnLines(turn, colors)]),
    '',
  ].join('\n');
}

function turnLines({ number, atMs, input, prompts, next, bargeIn, error, end }: ShownTurn, colors: Colors): readonly string[] {
  const line = (ms: number, who: string, what: string): string => `  ${(ms / 1000).toFixed(2).padStart(8)} s  ${who.padEnd(7)} ${what}`;
  return [
    colors.bold(`turn ${String(number)}`) + colors.dim(end === undefined ? '' : `  ${end}`),
    ...(input === undefined ? [] : [line(input.completeMs, 'caller', colors.cyan(inputText(input)))]),
    ...prompts.map((prompt) => line(prompt.startMs, prompt.isFiller === true ? 'filler' : 'bot', promptText(prompt))),
    ...(bargeIn === undefined
      ? []
      : [line(bargeIn.atMs, 'barge-in', colors.yellow(`by ${bargeIn.by}; heard: ${bargeIn.heard ?? 'unknown'}`))]),
    ...(error === undefined ? [] : [line(atMs, 'error', colors.red(`${error.code}: ${error.message}`))]),
    ...(next === undefined ? [] : [line(prompts.at(-1)?.endMs ?? atMs, 'then', colors.dim([next.kind, next.detail].join(' ').trim()))]),
  ];
}

function inputText({ kind, text, isWithheld }: ShownInput): string {
  if (isWithheld === true) return `${kind} ${WITHHELD}`;
  return text === undefined ? kind : kind === 'speech' ? text : `${kind} ${text}`;
}

function promptText({ text, isWithheld, startMs, endMs }: ShownPrompt): string {
  return isWithheld === true ? WITHHELD : (text ?? `a recording of ${((endMs - startMs) / 1000).toFixed(1)} s`);
}
