// Converts a recorded call to the form in which calls are shown.
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { AnswerParts, CallView, ShownTurn } from '../dialog/call-view.ts';
import { wordsUpTo } from '../dialog/heard.ts';
import { playoutOf, wholePrompts, type Playout } from './playout.ts';
import type { RecordedEvent, Recording } from './recording.ts';
import { isWithheld } from './redaction.ts';
import { shownEvents } from './shown-events.ts';
import { shownInput } from './shown-input.ts';
import { peaksOf, tracksOf } from './tracks.ts';

/**
 * The view of a recording.
 *
 * @param sound - see {@link shownSound}; default: none.
 */
export function viewOf(recording: Recording, sound: CallView['sound'] = {}): CallView {
  const { header, events } = recording;
  const { conversationId, organizationId, agentId, startedAtMs } = header.call;
  const end = events.find((event) => event.kind === 'ended')?.end;
  const turns = shownTurns(recording);
  const numbers = new Map(turns.map(({ id, number }) => [id, number]));
  return {
    form: 1,
    call: {
      ...{ conversationId, organizationId, agentId, startedAtMs },
      ...{ botVersion: header.botVersion, version: header.version, transport: header.transport },
      durationMs: Math.round(events.at(-1)?.atMs ?? 0),
      ...(end !== undefined && { end }),
    },
    turns,
    events: events.flatMap((event) => shownEvents(event, 'turn' in event ? numbers.get(event.turn ?? '') : undefined)),
    sound,
  };
}

/**
 * Both sides of a recording, with their peaks.
 *
 * @param hrefOf - makes the address of the sound of one side, from its samples at 8 kHz.
 */
export function shownSound(recording: Recording, hrefOf: (samples: Int16Array, side: 'caller' | 'bot') => string): CallView['sound'] {
  const { caller, bot } = tracksOf(recording);
  const track = (samples: Int16Array, side: 'caller' | 'bot') => ({ peaks: peaksOf(samples), href: hrefOf(samples, side) });
  return { caller: track(caller, 'caller'), bot: track(bot, 'bot') };
}

function shownTurns(recording: Recording): readonly ShownTurn[] {
  const playout = playoutOf(recording);
  const byTurn = new Map<string, RecordedEvent[]>();
  for (const event of recording.events) {
    if (event.kind === 'audio' || !('turn' in event)) continue;
    const events = byTurn.get(event.turn);
    if (events === undefined) byTurn.set(event.turn, [event]);
    else events.push(event);
  }
  const opened = recording.events.filter((event) => event.kind === 'turn_opened');
  let before: JsonValue | undefined = null;
  return opened.map(({ turn: id, atMs, trackingId }, index) => {
    const events = byTurn.get(id) ?? [];
    const state = events.find((event) => event.kind === 'state')?.state;
    const [earlier, after] = [before, isWithheld(state) ? undefined : state];
    before = state === undefined ? before : after;
    return {
      ...{ id, number: index + 1, atMs: Math.round(atMs), ...(trackingId !== undefined && { trackingId }) },
      ...shownReply(id, events, playout),
      ...shownInput(events),
      ...outcomeOf(events),
      ...bargeInOf(id, playout),
      ...(earlier !== undefined && after !== undefined && { state: { before: earlier, after } }),
    };
  });
}

type Reply = Pick<ShownTurn, 'interim' | 'prompts' | 'next' | 'firstSoundMs'>;

function shownReply(id: string, events: readonly RecordedEvent[], { prompts }: Playout): Reply {
  const own = wholePrompts(prompts.filter(({ turn }) => turn === id));
  const first = own.find(({ prompt }) => prompt.durationMs > 0 && prompt.isFiller !== true);
  const interim = events.flatMap((event) => (event.kind === 'interim' ? [{ atMs: Math.round(event.atMs), text: event.text }] : []));
  const next = events.find((event) => event.kind === 'output' && event.output.kind === 'final');
  return {
    ...(interim.length > 0 && { interim }),
    prompts: own.map(({ prompt, atMs, startMs, endMs, unheardMs }) => ({
      ...(typeof prompt.text === 'string' ? { text: prompt.text } : isWithheld(prompt.text ?? prompt.sound) ? { isWithheld: true } : {}),
      ...{ atMs: Math.round(atMs), startMs: Math.round(startMs), endMs: Math.round(endMs), mayBeCut: prompt.bargeIn },
      ...(unheardMs >= 1 && { unheardMs: Math.round(unheardMs) }),
      ...(prompt.isFiller === true && { isFiller: true }),
    })),
    ...(next?.kind === 'output' && next.output.kind === 'final' && { next: shownNext(next.output.next) }),
    ...(first !== undefined && { firstSoundMs: Math.round(first.atMs) }),
  };
}

type Next = Extract<Extract<RecordedEvent, { kind: 'output' }>['output'], { kind: 'final' }>['next'];

function shownNext(next: Next): NonNullable<ShownTurn['next']> {
  switch (next.kind) {
    case 'listen':
    case 'superseded': {
      const { accept, digits, sensitive } = next;
      return {
        kind: next.kind,
        detail: [accept, ...(digits > 1 ? [`${String(digits)} digits`] : []), ...(sensitive ? ['sensitive'] : [])].join(', '),
      };
    }
    case 'transfer':
    case 'end': {
      const detail = JSON.stringify(next.metadata);
      return { kind: next.kind, ...(detail !== '{}' && { detail }) };
    }
    case 'gone':
      return { kind: 'gone' };
  }
}

function outcomeOf(events: readonly RecordedEvent[]): Partial<Pick<ShownTurn, 'parts' | 'error' | 'end' | 'endMs'>> {
  const closed = events.find((event) => event.kind === 'turn_closed');
  const detailsOf = (name: string): JsonObject | undefined => {
    const fact = events.find((event) => event.kind === 'fact' && event.event === name);
    return fact?.kind === 'fact' ? fact.details : undefined;
  };
  const timed = detailsOf('answer_parts');
  const parts = timed === undefined ? undefined : partsOf(timed);
  const { code, message = code } = detailsOf('bot_failed') ?? {};
  return {
    ...(parts !== undefined && { parts }),
    ...(typeof code === 'string' && typeof message === 'string' && { error: { code, message } }),
    ...(closed !== undefined && { end: closed.end, endMs: Math.round(closed.atMs) }),
  };
}

function partsOf(details: JsonObject): AnswerParts | undefined {
  const ms = (name: keyof AnswerParts): number => Number(details[name] ?? 0);
  if (details['engineMs'] === undefined) return undefined;
  return {
    ...{ endpointingMs: ms('endpointingMs'), recognitionMs: ms('recognitionMs'), botMs: ms('botMs'), modelMs: ms('modelMs') },
    ...{ toolsMs: ms('toolsMs'), synthesisMs: ms('synthesisMs'), engineMs: ms('engineMs') },
  };
}

/** How much of the reply of a turn the caller had heard when interrupting it. */
function bargeInOf(id: string, { prompts, interruptions }: Playout): Pick<ShownTurn, 'bargeIn'> {
  const cut = interruptions.findLast(({ turn }) => turn === id);
  if (cut === undefined) return {};
  const parts = wholePrompts(prompts.filter((prompt) => prompt.turn === id)).flatMap(({ prompt: { text }, startMs, endMs, unheardMs }) => {
    if (typeof text !== 'string') return [];
    const heard = unheardMs === 0 ? text : wordsUpTo(text, (endMs - startMs) / (endMs - startMs + unheardMs));
    return [{ heard, unheard: text.slice(heard.length).trim() }];
  });
  const joined = (which: 'heard' | 'unheard'): string =>
    parts
      .map((part) => part[which])
      .filter((text) => text !== '')
      .join(' ');
  const { atMs, by, heardMs } = cut;
  const words = parts.length > 0 && { heard: joined('heard'), unheard: joined('unheard') };
  return { bargeIn: { atMs: Math.round(atMs), by, heardMs, ...words } };
}
