// Language model, recognizer and speech-to-speech model of a script on loopback, behind the protocols that real services speak. No key,
// no network. Keys that are sent are neither checked nor kept.
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { WebSocketServer } from 'ws';
import { AppError } from '../../base/errors.ts';
import { askedOf, answerTo, eventsOf, type Asked } from './chat.ts';
import { LIMIT_MS, PlayedScript, type ModelRequestEntry } from './playing.ts';
import { FakeConversation, type FakeItem } from './realtime.ts';
import { checkModelScript, type ModelFault, type ModelScript } from './script.ts';

export type { ModelRequestEntry } from './playing.ts';

/** Running models. `close` must be called. */
export interface FakeModels extends AsyncDisposable {
  /** For `chatModel({ url })` and `recognizer.url`. */
  readonly url: string;
  /** For `realtime({ url })`. */
  readonly realtimeUrl: string;
  /** The last 10,000 requests. */
  readonly journal: readonly ModelRequestEntry[];
  /** What the speech-to-speech model holds, connection by connection; the last hundred. */
  readonly conversations: readonly (readonly FakeItem[])[];
  close(): Promise<void>;
}

export interface FakeModelsOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  readonly onRequest?: (entry: ModelRequestEntry) => void;
}

const HOST = '127.0.0.1';
/** Two minutes of a caller at 8 kHz, 16 bits, with room for a form around it. */
const MAX_BODY_BYTES = 2_500_000;
const MAX_CONVERSATIONS = 100;
/** An utterance that is recognized again begins with the same second. */
const SECOND_BYTES = 16_000;
const HEADER_BYTES = 44;

/** Starts them on loopback. @throws RangeError for a script that is wrong; AppError `listen_failed` when the port is taken. */
export async function fakeModels(script: ModelScript = {}, { port = 0, onRequest }: FakeModelsOptions = {}): Promise<FakeModels> {
  const played = new PlayedScript(checkModelScript(script), onRequest);
  const models = new Models(played);
  const server = fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, requestTimeout: LIMIT_MS, forceCloseConnections: true });
  server.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, parsed) => {
    parsed(null, body);
  });
  server.post('/v1/chat/completions', (request, reply) => models.chat(request, reply));
  server.post('/v1/audio/transcriptions', (request, reply) => models.recognize(request, reply));
  server.setNotFoundHandler((request, reply) => refuse(reply, 404, `fake models do not answer ${request.method} ${request.url}`));
  const sockets = new WebSocketServer({ server: server.server, path: '/v1/realtime', maxPayload: MAX_BODY_BYTES });
  const conversations: (readonly FakeItem[])[] = [];
  sockets.on('connection', (socket) => {
    const { items } = new FakeConversation(socket, played);
    if (conversations.push(items) > MAX_CONVERSATIONS) conversations.shift();
  });
  try {
    await server.listen({ host: HOST, port });
  } catch (cause) {
    await server.close();
    throw new AppError('listen_failed', `the fake models cannot listen on ${HOST}:${String(port)}`, { cause, details: { port } });
  }
  // A server that listens on a port has an address object; only pipes have a string.
  const { port: taken } = server.server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    played.close();
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    await server.close();
  };
  const place = `${HOST}:${String(taken)}/v1`;
  const running = { url: `http://${place}`, realtimeUrl: `ws://${place}/realtime`, journal: played.journal, conversations };
  return { ...running, close, [Symbol.asyncDispose]: close };
}

class Models {
  readonly #played: PlayedScript;
  /** The beginning of what was recognized last, until the model is asked. */
  #beginning: Buffer | undefined;

  constructor(played: PlayedScript) {
    this.#played = played;
  }

  async chat({ body, id }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    let asked: Asked;
    try {
      asked = askedOf(body);
    } catch (thrown) {
      return refuse(reply, 400, thrown instanceof Error ? thrown.message : 'this is no request');
    }
    this.#beginning = undefined;
    const { text, after } = asked;
    const fault = this.#played.fault('chat');
    const rule = answerTo(asked, this.#played.script.rules ?? []);
    const { say, use } = rule ?? {};
    const entry = this.#played.note({
      ...{ on: 'chat', text },
      ...(after !== undefined && { after }),
      ...(say !== undefined && { say }),
      ...(use !== undefined && { use }),
      ...(fault !== undefined && { fault: fault.kind }),
    });
    if (rule === undefined) return refuse(reply, 404, unanswered(asked));
    if (use !== undefined && !asked.tools.includes(use))
      return refuse(reply, 404, `the script uses ${use}, and the request offers no such tool`);
    if (fault?.kind === 'error') return refuse(reply, fault.status ?? 503, ORDERED);
    await this.#stream(reply, eventsOf(fault?.kind === 'empty' ? {} : rule, asked, id), fault, entry);
    return reply;
  }

  async recognize({ body }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const beginning = beginningOf(body);
    if (beginning === undefined) return refuse(reply, 400, 'this is no form with a WAV file');
    const understood = this.#played.heard(this.#beginning?.equals(beginning) !== true);
    this.#beginning = beginning;
    const fault = this.#played.fault('recognition');
    const text = fault?.kind === 'empty' ? '' : understood;
    const entry = this.#played.note({ on: 'recognition', text, ...(fault !== undefined && { fault: fault.kind }) });
    if (fault?.kind === 'error') return refuse(reply, fault.status ?? 503, ORDERED);
    const times = fault?.kind === 'hang' ? 'for ever' : this.#played.script.delays?.recognition;
    if (!(await this.#played.takes(times, entry, leftSignal(reply))) || fault?.kind === 'cut') return cutOff(reply);
    return reply.type('application/json').send(fault?.kind === 'torn' ? '{"text":' : JSON.stringify({ text }));
  }

  async #stream(
    reply: FastifyReply,
    events: ReturnType<typeof eventsOf>,
    fault: ModelFault | undefined,
    entry: ModelRequestEntry,
  ): Promise<void> {
    const { delays } = this.#played.script;
    const gone = leftSignal(reply);
    if (!(await this.#played.takes(fault?.kind === 'hang' ? 'for ever' : delays?.first_token, entry, gone))) return void cutOff(reply);
    const raw = reply.hijack().raw;
    raw.writeHead(200, { 'content-type': 'text/event-stream' });
    const cutAt = fault?.kind === 'cut' ? Math.ceil(events.filter(({ isToken }) => isToken).length / 2) : events.length;
    for (const [index, { isToken, data }] of events.slice(0, cutAt).entries()) {
      if (index > 0 && isToken && !(await this.#played.takes(delays?.token, entry, gone))) break;
      raw.write(fault?.kind === 'torn' ? data.slice(0, -8) + data.slice(-2) : data);
    }
    if (cutAt < events.length) raw.destroy();
    else raw.end();
  }
}

/** The message of a fault. */
const ORDERED = 'ordered by the script';

/** Aborts when the client has left. */
function leftSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => {
    left.abort('hang_up');
  });
  return left.signal;
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ error: { message, type: 'fake_models' } });
}

function cutOff(reply: FastifyReply): FastifyReply {
  reply.hijack().raw.destroy();
  return reply;
}

function unanswered({ text, after }: Asked): string {
  const what = after === undefined ? `the caller's "${text}"` : `what ${after} returned: ${text}`;
  return `no rule of the script answers ${what}`;
}

/** The first second of a recording in a form; undefined when there is none. */
function beginningOf(body: unknown): Buffer | undefined {
  const start = Buffer.isBuffer(body) ? body.indexOf('RIFF') : -1;
  // The header says how long the recording is, which differs when more was said.
  return Buffer.isBuffer(body) && start >= 0 ? body.subarray(start + HEADER_BYTES, start + HEADER_BYTES + SECOND_BYTES) : undefined;
}
