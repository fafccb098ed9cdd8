// Starts a scripted language model, recognizer, speech service and speech-to-speech model on loopback, behind the protocols of real
// services. Needs no network, and ignores the API keys of requests.
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { WebSocketServer } from 'ws';
import { AppError } from '../../base/errors.ts';
import { HttpModels, refuse } from './http-models.ts';
import { LIMIT_MS, PlayedScript, type ModelRequestEntry } from './playing.ts';
import type { FakeItem } from './fake-item.ts';
import { FakeConversation } from './realtime.ts';
import { checkModelScript, type ModelScript } from './script.ts';
import { FakeTranscription } from './transcription.ts';

export type { ModelRequestEntry } from './playing.ts';

/** Running models. `close` must be called. */
export interface FakeModels extends AsyncDisposable {
  /** Address for `chatModel({ url })`, `recognizer.http.url` and `synthesizer.http.url`. */
  readonly url: string;
  /** Address for `realtime({ url })`. */
  readonly realtimeUrl: string;
  /** Address for `recognizer.stream.url`. */
  readonly transcriptionUrl: string;
  /** The last 10,000 requests, oldest first. */
  readonly journal: readonly ModelRequestEntry[];
  /** The items of the speech-to-speech model, in one list per connection, for the last hundred connections. */
  readonly conversations: readonly (readonly FakeItem[])[];
  close(): Promise<void>;
}

export interface FakeModelsOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  readonly onRequest?: (entry: ModelRequestEntry) => void;
}

const HOST = '127.0.0.1';
/** Longest body, bytes: two minutes of speech at 8 kHz and 16 bits, and the form around it. */
const MAX_BODY_BYTES = 2_500_000;
const MAX_CONVERSATIONS = 100;

/** Starts the models on loopback. @throws RangeError for an invalid script; AppError `listen_failed` when the port is taken. */
export async function fakeModels(script: ModelScript = {}, { port = 0, onRequest }: FakeModelsOptions = {}): Promise<FakeModels> {
  const played = new PlayedScript(checkModelScript(script), onRequest);
  const models = new HttpModels(played);
  const server = fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, requestTimeout: LIMIT_MS, forceCloseConnections: true });
  server.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
  server.post('/v1/chat/completions', (request, reply) => models.chat(request, reply));
  server.post('/v1/audio/transcriptions', (request, reply) => models.recognize(request, reply));
  server.post('/v1/audio/speech', (request, reply) => models.speak(request, reply));
  server.post('/v1/said', (request, reply) => models.learn(request, reply));
  server.setNotFoundHandler((request, reply) => refuse(reply, 404, `fake models do not answer ${request.method} ${request.url}`));
  const sockets = new WebSocketServer({ server: server.server, path: '/v1/realtime', maxPayload: MAX_BODY_BYTES });
  const conversations: (readonly FakeItem[])[] = [];
  sockets.on('connection', (socket, { url = '' }) => {
    if (new URL(url, 'ws://models').searchParams.get('intent') === 'transcription') {
      new FakeTranscription(socket, played);
      return;
    }
    const { items } = new FakeConversation(socket, played);
    if (conversations.push(items) > MAX_CONVERSATIONS) conversations.shift();
  });
  try {
    await server.listen({ host: HOST, port });
  } catch (cause) {
    await server.close();
    throw new AppError('listen_failed', `the fake models cannot listen on ${HOST}:${String(port)}`, { cause, details: { port } });
  }
  // A server that listens on a port has an address object; only a pipe has a string.
  const { port: taken } = server.server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    played.close();
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    await server.close();
  };
  const place = `${HOST}:${String(taken)}/v1`;
  const realtimeUrl = `ws://${place}/realtime`;
  const transcriptionUrl = `${realtimeUrl}?intent=transcription`;
  const running = { url: `http://${place}`, realtimeUrl, transcriptionUrl, journal: played.journal, conversations };
  return { ...running, close, [Symbol.asyncDispose]: close };
}
