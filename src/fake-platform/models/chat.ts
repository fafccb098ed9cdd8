// The service side of the chat completions protocol: reads a request, chooses the rule that answers it, and makes the events of the answer.
import { z } from 'zod';
import { textPattern } from '../caller/expectation.ts';
import type { ModelRule } from './script.ts';

const CONTENT = z
  .union([z.string(), z.array(z.looseObject({ text: z.string().optional() })), z.null()])
  .optional()
  .transform((content) => (typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('')));

const REQUEST = z.looseObject({
  model: z.string(),
  stream: z.literal(true, { error: 'fake models only answer with `stream: true`' }),
  messages: z
    .array(
      z.looseObject({
        role: z.string(),
        content: CONTENT,
        tool_call_id: z.string().optional(),
        tool_calls: z.array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string() }) })).optional(),
      }),
    )
    .min(1),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});

/** What a request says: its model, the last message, the offered tools, and the size of the conversation. */
export interface Asked {
  /** The requested model. Undefined: the request came to a speech-to-speech model. */
  readonly model?: string;
  /** The caller's words, or the result of the tool in `after`. */
  readonly text: string;
  /** The tool that has just run. Undefined: the caller has just spoken. */
  readonly after: string | undefined;
  readonly tools: readonly string[];
  /** Characters of all messages. */
  readonly chars: number;
}

/** A piece of an answer as it is sent. `isToken`: a word or a tool use. */
export interface ChatEvent {
  readonly isToken: boolean;
  readonly data: string;
}

/** Reads a request. @throws RangeError that says what is wrong with the request. */
export function askedOf(body: unknown): Asked {
  const parsed = REQUEST.safeParse(body);
  if (!parsed.success) throw new RangeError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  const { model, messages, tools = [] } = parsed.data;
  const last = messages.at(-1);
  const uses = messages.flatMap(({ tool_calls: calls = [] }) => calls);
  return {
    model,
    text: last?.content ?? '',
    after: last?.role === 'tool' ? (uses.findLast(({ id }) => id === last.tool_call_id)?.function.name ?? '') : undefined,
    tools: tools.map((tool) => tool.function.name),
    chars: messages.reduce((sum, { content }) => sum + content.length, 0),
  };
}

/** The first rule that matches the request; undefined: none does. */
export function answerTo(
  { model, text, after }: Pick<Asked, 'model' | 'text' | 'after'>,
  rules: readonly ModelRule[],
): ModelRule | undefined {
  return rules.find(
    (rule) =>
      (rule.model === undefined || rule.model === model) &&
      (rule.after === undefined ? after === undefined || isOpen(rule) : rule.after === after) &&
      isIn(text, rule.when),
  );
}

/** All events of an answer, in order. @param id - of the answer; also used for the id of its tool use. */
export function eventsOf({ say, use, input = {} }: Partial<ModelRule>, { chars }: Pick<Asked, 'chars'>, id: string): readonly ChatEvent[] {
  const words = say?.match(/\s*\S+\s*/gu) ?? [];
  const call = { index: 0, id: `use-${id}`, type: 'function', function: { name: use, arguments: JSON.stringify(input) } };
  const deltas = [...words.map((content) => ({ content })), ...(use === undefined ? [] : [{ tool_calls: [call] }])];
  const usage = { prompt_tokens: Math.ceil(chars / 4), completion_tokens: deltas.length };
  const event = (more: object): string =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model: 'fake', ...more })}\n\n`;
  return [
    ...deltas.map((delta) => ({ isToken: true, data: event({ choices: [{ index: 0, delta, finish_reason: null }] }) })),
    {
      isToken: false,
      data: event({ choices: [{ index: 0, delta: {}, finish_reason: use === undefined ? 'stop' : 'tool_calls' }] }),
    },
    {
      isToken: false,
      data: event({ choices: [], usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } }),
    },
    { isToken: false, data: 'data: [DONE]\n\n' },
  ];
}

/** A rule without `when` and `after` also answers after tools. */
function isOpen({ when, after }: ModelRule): boolean {
  return when === undefined && after === undefined;
}

function isIn(text: string, when: string | undefined): boolean {
  return when === undefined || textPattern(when).test(text);
}
