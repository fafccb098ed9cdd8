// Language model and recognizer of a script on loopback, behind the protocols that real services speak. No key, no network. Keys
// that are sent are neither checked nor kept.
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { abortAfter, pause } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { askedOf, answerTo, eventsOf, type Asked } from './chat.ts';
import { checkModelScript, type ModelFault, type ModelScript } from './script.ts';
import { serviceTimes } from './service-times.ts';

/** One request, and what was answered. */
export interface ModelRequestEntry {
  readonly on: 'chat' | 'recognition';
  /** When it came, ms of the clock. */
  readonly atMs: number;
  /** What the script made it wait in all, ms: so far, while it is answered. */
  waitedMs: number;
  /** Words of the caller, or what a tool returned; the text that was recognized. */
  readonly text: string;
  readonly after?: string;
  readonly say?: string;
  readonly use?: string;
  readonly fault?: ModelFault['kind'];
}

/** Running models. `close` must be called. */
export interface FakeModels extends AsyncDisposable {
  /** For `chatModel({ url })` and `recognizer.url`. */
  readonly url: string;
  /** The last 10,000 requests. */
  readonly journal: readonly ModelRequestEntry[];
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
const MAX_JOURNAL = 10_000;
/** Longest time in which a request is answered, and for which `hang` hangs, ms. */
const LIMIT_MS = 120_000;
/** An utterance that is recognized again begins with the same second. */
const SECOND_BYTES = 16_000;
const HEADER_BYTES = 44;

/** Starts them on loopback. @throws RangeError for a script that is wrong; AppError `listen_failed` when the port is taken. */
export async function fakeModels(script: ModelScript = {}, { port = 0, onRequest }: FakeModelsOptions = {}): Promise<FakeModels> {
  const models = new Models(checkModelScript(script), onRequest);
  const server = fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, requestTimeout: LIMIT_MS, forceCloseConnections: true });
  server.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, parsed) => {
    parsed(null, body);
  });
  server.post('/v1/chat/completions', (request, reply) => models.chat(request, reply));
  server.post('/v1/audio/transcriptions', (request, reply) => models.recognize(request, reply));
  server.setNotFoundHandler((request, reply) => refuse(reply, 404, `fake models do not answer ${request.method} ${request.url}`));
  try {
    await server.listen({ host: HOST, port });
  } catch (cause) {
    await server.close();
    throw new AppError('listen_failed', `the fake models cannot listen on ${HOST}:${String(port)}`, { cause, details: { port } });
  }
  // A server that listens on a port has an address object; only pipes have a string.
  const { port: taken } = server.server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    models.close();
    await server.close();
  };
  return { url: `http://${HOST}:${String(taken)}/v1`, journal: models.journal, close, [Symbol.asyncDispose]: close };
}

class Models {
  readonly journal: ModelRequestEntry[] = [];
  readonly #script: ModelScript;
  readonly #onRequest: ((entry: ModelRequestEntry) => void) | undefined;
  readonly #drawMs: ReturnType<typeof serviceTimes>;
  readonly #closing = new AbortController();
  readonly #count = { chat: 0, recognition: 0 };
  /** Inputs whose text the script has given. */
  #heard = 0;
  /** The beginning of what was recognized last, until the model is asked. */
  #beginning: Buffer | undefined;

  constructor(script: ModelScript, onRequest: ((entry: ModelRequestEntry) => void) | undefined) {
    this.#script = script;
    this.#onRequest = onRequest;
    this.#drawMs = serviceTimes(script.seed ?? 1);
  }

  close(): void {
    this.#closing.abort('shutdown');
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
    const fault = this.#fault('chat');
    const rule = answerTo(asked, this.#script.rules ?? []);
    const { say, use } = rule ?? {};
    const entry = this.#note({
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
    const isAgain = this.#beginning?.equals(beginning) === true;
    if (!isAgain) this.#heard += 1;
    this.#beginning = beginning;
    const fault = this.#fault('recognition');
    const text = fault?.kind === 'empty' ? '' : (this.#script.heard?.[this.#heard - 1] ?? '');
    const entry = this.#note({ on: 'recognition', text, ...(fault !== undefined && { fault: fault.kind }) });
    if (fault?.kind === 'error') return refuse(reply, fault.status ?? 503, ORDERED);
    if (!(await this.#wait(fault?.kind === 'hang' ? LIMIT_MS : this.#drawMs(this.#script.delays?.recognition), entry, reply)))
      return cutOff(reply);
    if (fault?.kind === 'cut') return cutOff(reply);
    return reply.type('application/json').send(fault?.kind === 'torn' ? '{"text":' : JSON.stringify({ text }));
  }

  async #stream(
    reply: FastifyReply,
    events: ReturnType<typeof eventsOf>,
    fault: ModelFault | undefined,
    entry: ModelRequestEntry,
  ): Promise<void> {
    const { delays } = this.#script;
    if (!(await this.#wait(fault?.kind === 'hang' ? LIMIT_MS : this.#drawMs(delays?.first_token), entry, reply))) return void cutOff(reply);
    const raw = reply.hijack().raw;
    raw.writeHead(200, { 'content-type': 'text/event-stream' });
    const cutAt = fault?.kind === 'cut' ? Math.ceil(events.filter(({ isToken }) => isToken).length / 2) : events.length;
    for (const [index, { isToken, data }] of events.slice(0, cutAt).entries()) {
      if (index > 0 && isToken && !(await this.#wait(this.#drawMs(delays?.token), entry, reply))) break;
      raw.write(fault?.kind === 'torn' ? data.slice(0, -8) + data.slice(-2) : data);
    }
    if (cutAt < events.length) raw.destroy();
    else raw.end();
  }

  /** @returns false when the client left or the models are closed meanwhile. */
  async #wait(ms: number, entry: ModelRequestEntry, { raw }: FastifyReply): Promise<boolean> {
    if (ms === 0) return !raw.destroyed;
    const whole = abortAfter(LIMIT_MS, systemClock, this.#closing.signal);
    const left = (): void => {
      whole.abort('hang_up');
    };
    raw.once('close', left);
    try {
      entry.waitedMs += ms;
      return (await pause(ms, systemClock, whole.signal)) && !raw.destroyed;
    } finally {
      raw.off('close', left);
      whole.dispose();
    }
  }

  #fault(on: ModelFault['on']): ModelFault | undefined {
    this.#count[on] += 1;
    return this.#script.faults?.find((fault) => fault.on === on && fault.nth === this.#count[on]);
  }

  #note(what: Omit<ModelRequestEntry, 'atMs' | 'waitedMs'>): ModelRequestEntry {
    const entry = { atMs: systemClock.nowMs(), waitedMs: 0, ...what };
    if (this.journal.push(entry) > MAX_JOURNAL) this.journal.shift();
    this.#onRequest?.(entry);
    return entry;
  }
}

/** The message of a fault. */
const ORDERED = 'ordered by the script';

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
