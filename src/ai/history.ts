// The history of a call in an assistant's state: what the caller said, what the caller heard of the assistant, and tool uses with their
// outcomes. Also makes the model's prompt of the history. Plain JSON; knows no model and no tools.
import type { JsonObject, JsonValue } from '../base/json.ts';
import { wordsUpTo, type Heard } from '../dialog/heard.ts';
import type { ModelMessage } from './model.ts';

/** One entry of a history. */
export type Message = CallerMessage | AssistantMessage | ToolMessage;

/** What the caller said or did. */
export interface CallerMessage {
  readonly by: 'caller';
  readonly text: string;
  /** Set for speech that a speech-to-speech model heard: the id of the item at its service. */
  readonly item?: string;
}

/** What the caller heard. A dash at the end marks that the caller interrupted there. */
export interface AssistantMessage {
  readonly by: 'assistant';
  readonly text: string;
  /** The prompts that `text` consists of. Set until it is known how much of them was heard. */
  readonly prompts?: readonly string[];
  /** Set for speech of a speech-to-speech model: the id of the item at its service. */
  readonly item?: string;
  /** Set for speech of a speech-to-speech model: number and length of its audio prompts, until it is known how much of them was heard. */
  readonly sound?: { readonly prompts: number; readonly ms: number; /** Set when the item is complete. */ readonly isWhole?: true };
}

/** A use of a tool. */
export interface ToolMessage {
  readonly by: 'tool';
  readonly id: string;
  readonly tool: string;
  readonly input: JsonValue;
  /** Undefined: the tool has started, and its outcome is unknown. */
  readonly outcome?: ToolOutcome;
  /** Set when the provider attached data to the tool use; the next prompt must return the data. */
  readonly metadata?: JsonObject;
  /** Set when the model requested this use in the same answer as the previous entry. */
  readonly isWithLast?: true;
}

/** The outcome of a tool use. */
export interface ToolOutcome {
  readonly value: JsonValue;
  readonly isError?: true;
}

/** Ends the text of an interrupted message. */
const CUT = ' —';

/** The history once it is known how much of the last reply was heard: the text of each prompt becomes the heard part. */
export function settled(messages: readonly Message[], heard: Heard): readonly Message[] {
  const walk = walkOf(heard);
  const known = messages.map((message) => {
    if (message.by !== 'assistant') return message;
    if (message.sound !== undefined) return withSoundHeard(message, walk.soundOf(message.sound.prompts));
    if (message.prompts === undefined) return message;
    return { by: 'assistant', text: joined(message.prompts.map(walk.heardOf)) } as const;
  });
  const rest = joined(walk.rest());
  return [...known, { by: 'assistant', text: rest } as const].filter((message) => message.by !== 'assistant' || message.text !== '');
}

/** Items of a speech-to-speech model that the caller interrupted: how much of each item was heard, ms by item id. */
export function soundsCut(messages: readonly Message[], heard: Heard): ReadonlyMap<string, number> {
  const walk = walkOf(heard);
  const known = new Map<string, number>();
  for (const message of messages) {
    if (message.by !== 'assistant') continue;
    for (const prompt of message.prompts ?? []) walk.heardOf(prompt);
    if (message.sound === undefined) continue;
    const ms = walk.soundOf(message.sound.prompts);
    if (message.item !== undefined && !isHeard(message.sound, ms)) known.set(message.item, ms);
  }
  return known;
}

/** An item of which the caller missed at most this much counts as heard, ms: less than a syllable. */
const HARDLY_CUT_MS = 60;

/** Whether the caller has heard the whole item, and the model will send no more of it. */
function isHeard({ ms, isWhole }: NonNullable<AssistantMessage['sound']>, heardMs: number): boolean {
  return isWhole === true && heardMs + HARDLY_CUT_MS >= ms;
}

function withSoundHeard({ sound, ...message }: AssistantMessage, heardMs: number): AssistantMessage {
  if (sound === undefined || isHeard(sound, heardMs)) return message;
  // Words arrive before their audio. An item without audio was not heard.
  const words = wordsUpTo(message.text, sound.ms === 0 ? 0 : heardMs / sound.ms);
  return { ...message, text: words === '' ? '' : words + CUT };
}

interface HeardPiece {
  readonly words: string;
  readonly isCut: boolean;
}

/** Assigns the heard parts of a reply to its prompts, which must be asked for in the order of the history. */
interface Walk {
  readonly heardOf: (prompt: string) => HeardPiece;
  /** How much was heard of the next `prompts` audio prompts, ms. */
  readonly soundOf: (prompts: number) => number;
  readonly rest: () => readonly HeardPiece[];
}

function walkOf(heard: Heard): Walk {
  return heard.estimated === true && !heard.complete ? estimatedWalk(heard) : partsWalk(heard);
}

/** Matches prompts with the parts of the reply in order. The surrounding bot may have added parts of its own. */
function partsWalk({ parts }: Heard): Walk {
  let next = 0;
  const piece = (part: Heard['parts'][number]): HeardPiece => ({ words: part.heard, isCut: !part.complete });
  return {
    heardOf(prompt) {
      const at = parts.findIndex(({ text }, index) => index >= next && text === prompt);
      const part = parts[at];
      if (part === undefined) return { words: '', isCut: false };
      next = at + 1;
      return piece(part);
    },
    soundOf(prompts) {
      let heardMs = 0;
      for (let left = prompts; left > 0; left -= 1) {
        const at = parts.findIndex(({ text }, index) => index >= next && text === '');
        const part = parts[at];
        if (part === undefined) break;
        next = at + 1;
        heardMs += part.ms;
      }
      return heardMs;
    },
    // Includes prompts that an interrupted handler said after its last checkpoint: no saved history has them.
    rest: () => parts.slice(next).map(piece),
  };
}

/** After a crash only the text up to an estimated point is known, not its prompts. */
function estimatedWalk({ text, ms }: Heard): Walk {
  let left = text;
  return {
    heardOf(prompt) {
      const at = left.indexOf(prompt);
      const isWhole = at >= 0;
      const words = isWhole ? prompt : prompt.startsWith(left.trim()) ? left.trim() : '';
      left = isWhole ? left.slice(at + prompt.length) : '';
      return { words, isCut: !isWhole && words !== '' };
    },
    soundOf: () => ms,
    rest: () => [],
  };
}

function joined(pieces: readonly HeardPiece[]): string {
  const heard = pieces.filter(({ words }) => words !== '');
  const text = heard.map(({ words }) => words).join(' ');
  return heard.some(({ isCut }) => isCut) ? text + CUT : text;
}

/** Drops the oldest turns until the rest has at most `maxChars` characters; the last turn always stays. */
export function shortened(messages: readonly Message[], maxChars: number): readonly Message[] {
  let left = messages;
  while (sizeOf(left) > maxChars) {
    const next = left.findIndex(({ by }, index) => index > 0 && by === 'caller');
    if (next < 0) return left;
    left = left.slice(next);
  }
  return left;
}

function sizeOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
}

/** The history as a prompt. Every tool use in the prompt has a result, even when its outcome is unknown. */
export function promptOf(instructions: string, messages: readonly Message[]): ModelMessage[] {
  const prompt: ModelMessage[] = [{ role: 'system', content: instructions }];
  for (const message of messages) {
    const last = prompt.at(-1);
    if (message.by === 'tool') addUse(prompt, message);
    else if (message.by === 'caller' && last?.role === 'user') last.content.push({ type: 'text', text: message.text });
    else if (message.by === 'caller') prompt.push({ role: 'user', content: [{ type: 'text', text: message.text }] });
    else prompt.push({ role: 'assistant', content: [{ type: 'text', text: message.text }] });
  }
  // Models require a message of the user or a tool at the end.
  if (prompt.at(-1)?.role !== 'user' && prompt.at(-1)?.role !== 'tool')
    prompt.push({ role: 'user', content: [{ type: 'text', text: '[the caller is waiting]' }] });
  return prompt;
}

function addUse(prompt: ModelMessage[], { id, tool, input, outcome, metadata, isWithLast }: ToolMessage): void {
  const use = {
    ...({ type: 'tool-call', toolCallId: id, toolName: tool, input } as const),
    ...(metadata !== undefined && { providerOptions: metadata }),
  };
  const output = { type: outcome?.isError === true ? ('error-text' as const) : ('text' as const), value: outputOf({ outcome }) };
  const result = { type: 'tool-result' as const, toolCallId: id, toolName: tool, output };
  const [asked, given] = [prompt.at(-2), prompt.at(-1)];
  if (isWithLast === true && asked?.role === 'assistant' && given?.role === 'tool') {
    asked.content.push(use);
    given.content.push(result);
    return;
  }
  // Text before a tool use belongs to the same answer of the model.
  if (given?.role === 'assistant') given.content.push(use);
  else prompt.push({ role: 'assistant', content: [use] });
  prompt.push({ role: 'tool', content: [result] });
}

/** The outcome of a tool use as text for the model. */
export function outputOf({ outcome }: { readonly outcome?: ToolOutcome | undefined }): string {
  if (outcome === undefined) return UNKNOWN;
  return typeof outcome.value === 'string' ? outcome.value : JSON.stringify(outcome.value);
}

const UNKNOWN = 'It has begun. The outcome is not known yet: check before you try it again, and do not claim that it worked.';
