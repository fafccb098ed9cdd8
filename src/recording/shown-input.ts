// The caller's input of one recorded turn, as it is shown.
import type { ShownInput, ShownTurn } from '../dialog/call-view.ts';
import type { RecordedEvent, RecordedInput } from './recording.ts';
import { isWithheld } from './redaction.ts';

type InputEvent = Extract<RecordedEvent, { kind: 'input' }>;

/** @param events - of one turn. */
export function shownInput(events: readonly RecordedEvent[]): Pick<ShownTurn, 'input'> {
  const complete = events.find((event): event is InputEvent => event.kind === 'input' && kindOf(event.input) !== undefined);
  if (complete === undefined) return spokenInput(events);
  const kind = kindOf(complete.input);
  if (kind === undefined) return {};
  const completeMs = Math.round(complete.atMs);
  const begun = events.find((event) => event.kind === 'input' && event.input.kind === 'dtmf_start');
  return { input: { kind, atMs: Math.round(begun?.atMs ?? complete.atMs), completeMs, ...textOf(complete.input) } };
}

function kindOf({ kind }: RecordedInput): ShownInput['kind'] | undefined {
  switch (kind) {
    case 'session_start':
      return 'start';
    case 'dtmf':
      return 'keys';
    case 'no_input':
      return kind;
    case 'custom_event':
      return 'event';
    default:
      return undefined;
  }
}

function textOf(input: RecordedInput): Pick<ShownInput, 'text' | 'isWithheld'> {
  if (isWithheld(input)) return { isWithheld: true };
  if ('digits' in input) return { text: input.digits };
  return 'name' in input && input.name !== '' ? { text: input.name } : {};
}

function spokenInput(events: readonly RecordedEvent[]): Pick<ShownTurn, 'input'> {
  const at = (kind: 'input_started' | 'input_ended'): number | undefined =>
    events.find((event) => event.kind === 'output' && event.output.kind === kind)?.atMs;
  const [startMs, endMs] = [at('input_started'), at('input_ended')];
  if (startMs === undefined || endMs === undefined) return {};
  const words = events.find((event) => event.kind === 'words');
  const text = words?.kind === 'words' ? words.text : undefined;
  const ended = events.find((event) => event.kind === 'fact' && event.event === 'input_ended');
  const silenceMs = ended?.kind === 'fact' ? ended.details['silenceMs'] : undefined;
  return {
    input: {
      ...{ kind: 'speech', atMs: Math.round(startMs), completeMs: Math.round(endMs) },
      ...(typeof silenceMs === 'number' && { lastSoundMs: Math.round(endMs - silenceMs) }),
      ...(typeof text === 'string' ? { text } : isWithheld(text) ? { isWithheld: true } : {}),
    },
  };
}
