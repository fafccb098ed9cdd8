// The events of a recording as a list for people.
import type { JsonObject } from '../base/json.ts';
import type { ShownEvent } from '../dialog/call-view.ts';
import type { RecordedEvent } from './recording.ts';
import { isWithheld } from './redaction.ts';

/** Facts that do not come from the server. */
const FROM: Readonly<Record<string, ShownEvent['from']>> = {
  input_started: 'caller',
  input_ended: 'caller',
  barge_in: 'caller',
  bot_answered: 'bot',
  bot_failed: 'bot',
  recognized: 'service',
  model_reported: 'service',
  tool_used: 'service',
};
/** Details that are the duration of their event. */
const DURATIONS = ['tookMs', 'latencyMs', 'waitedMs'] as const;
/** Facts that are shown with their turn, or that are already events of a recording. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set(['answer_parts', 'turn_started', 'turn_ended', 'session_ended']);
const WITHHELD_TEXT = '[withheld]';

/** @param turn - number of the turn. @returns none for events that are shown in another way: frames, prompts, interim words and states. */
export function shownEvents(event: RecordedEvent, turn: number | undefined): readonly ShownEvent[] {
  const place = { atMs: Math.round(event.atMs), ...(turn !== undefined && { turn }) };
  switch (event.kind) {
    case 'input': {
      const { input } = event;
      const detail = isWithheld(input) ? WITHHELD_TEXT : 'digits' in input ? input.digits : 'name' in input ? input.name : '';
      const from = input.kind === 'dtmf' || input.kind === 'dtmf_start' ? 'caller' : 'platform';
      return [{ ...place, from, event: input.kind, ...(detail !== '' && { detail }) }];
    }
    case 'turn_opened':
      return [{ ...place, from: 'platform', event: 'turn_started', ...(event.trackingId !== undefined && { detail: event.trackingId }) }];
    case 'turn_closed':
      return [{ ...place, from: 'server', event: 'turn_ended', detail: event.end }];
    case 'ended':
      return [{ ...place, from: 'server', event: 'session_ended', detail: event.end }];
    case 'half_closed':
      return [{ ...place, from: 'platform', event: 'half_closed' }];
    case 'aborted':
      return [{ ...place, from: 'platform', event: 'stream_aborted', detail: event.reason }];
    case 'words': {
      const { text, tookMs, failure } = event;
      const detail = failure ?? (isWithheld(text) ? WITHHELD_TEXT : text);
      return [{ ...place, from: 'service', event: 'words', ms: Math.round(tookMs), ...(detail !== undefined && { detail }) }];
    }
    case 'service':
      return [{ ...place, from: 'service', event: `${event.service}_answered`, detail: event.key, ms: Math.round(event.tookMs) }];
    case 'fact':
      if (SHOWN_ELSEWHERE.has(event.event)) return [];
      return [{ ...place, from: FROM[event.event] ?? 'server', event: event.event, ...shownDetails(event.details) }];
    default:
      return [];
  }
}

function shownDetails(details: JsonObject): Pick<ShownEvent, 'detail' | 'ms'> {
  const duration = DURATIONS.find((name) => typeof details[name] === 'number');
  const others = Object.entries(details).filter(([name]) => name !== duration);
  return {
    ...(others.length > 0 && {
      detail: others.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', '),
    }),
    ...(duration !== undefined && { ms: Number(details[duration]) }),
  };
}
