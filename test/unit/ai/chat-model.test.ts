import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatModel } from '../../../src/ai/chat-model.ts';
import { askModel, type ModelPart, type ModelRequest } from '../../../src/ai/model.ts';
import { systemClock } from '../../../src/base/clock.ts';

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }] })}\n\n`;
const END = `${chunk({}, { finish_reason: 'stop' })}data: ${JSON.stringify({ id: '1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })}\n\ndata: [DONE]\n\n`;

/** What the service does, by the name of the model. */
const SERVICE: Readonly<Record<string, (response: ServerResponse) => void>> = {
  good: (response) => response.end(chunk({ content: 'Hello ' }) + chunk({ content: 'there.' }) + END),
  tool: (response) =>
    response.end(
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'book', arguments: '{"slot":' } }] }) +
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"nine"}' } }] }) +
        END,
    ),
  refused: (response) => response.writeHead(401).end('{"error":{"message":"no"}}'),
  busy: (response) => response.writeHead(429, { 'retry-after': '60' }).end('{}'),
  broken: (response) => response.writeHead(503).end('no'),
  silent: () => undefined,
  stalls: (response) => response.write(chunk({ content: 'Hello ' })),
  torn: (response) => response.end(`${chunk({ content: 'Hello ' })}data: {"id":\n\n${END}`),
  cut: (response) => {
    response.write(chunk({ content: 'Hello ' }), () => response.destroy());
  },
  empty: (response) => response.end(END),
  nothing: (response) => response.end(),
  page: (response) => response.end('<html>'),
};

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (text: string) => (body += text));
  request.on('end', () => {
    const { model } = JSON.parse(body) as { model: string };
    if (!['refused', 'busy', 'broken', 'silent'].includes(model)) response.writeHead(200, { 'content-type': 'text/event-stream' });
    SERVICE[model]?.(response);
  });
});
let url = '';

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : '')}/v1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function asked(model: string, signal = new AbortController().signal): Promise<readonly ModelPart[]> {
  const request: ModelRequest = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], tools: [], settings: {} };
  const parts: ModelPart[] = [];
  // Short only where it is what the test is about: on a busy machine an answer may take long.
  const patience = { firstTokenMs: model === 'silent' ? 400 : 10_000, stallMs: model === 'stalls' ? 200 : 10_000 };
  for await (const part of askModel(chatModel({ url, model }), request, patience, systemClock, signal)) parts.push(part);
  return parts;
}

describe('a chat model', () => {
  it('gives its words as they come, and counts tokens', async () => {
    expect(await asked('good')).toEqual([
      { kind: 'text', text: 'Hello ' },
      { kind: 'text', text: 'there.' },
      { kind: 'end', tokensIn: 7, tokensOut: 3 },
    ]);
  });

  it('joins the pieces of a tool call', async () => {
    expect(await asked('tool')).toContainEqual({ kind: 'use', tool: 'book', input: '{"slot":"nine"}' });
  });

  it.each([
    ['refused', { kind: 'failed', why: 'error', status: 401 }],
    ['busy', { kind: 'failed', why: 'error', status: 429 }],
    ['broken', { kind: 'failed', why: 'error', status: 503 }],
    ['silent', { kind: 'failed', why: 'late' }],
    ['stalls', { kind: 'failed', why: 'stalled' }],
    ['torn', { kind: 'failed', why: 'error' }],
    ['cut', { kind: 'failed', why: 'error' }],
    ['empty', { kind: 'failed', why: 'empty' }],
    ['nothing', { kind: 'failed', why: 'error' }],
    ['page', { kind: 'failed', why: 'error' }],
  ] as const)('ends with one failure when the service is %s, and tries nothing again', async (model, failure) => {
    const parts = await asked(model);
    expect(parts.at(-1)).toEqual(failure);
    expect(parts.filter(({ kind }) => kind === 'failed' || kind === 'end')).toHaveLength(1);
  });

  it('stops at once when nobody waits any more', async () => {
    const abort = new AbortController();
    const parts = asked('silent', abort.signal);
    abort.abort();
    expect(await parts).toEqual([{ kind: 'failed', why: 'aborted' }]);
  });

  it('refuses what is no address', () => {
    expect(() => chatModel({ url: 'models', model: 'a' })).toThrow('no http or https address');
  });
});
