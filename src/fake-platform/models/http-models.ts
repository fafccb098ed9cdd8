// The fake services over HTTP: chat completions, transcriptions and speech.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { encodeMulaw } from '../../speech/g711.ts';
import { pcmWav } from '../../speech/wav.ts';
import { askedOf, answerTo, eventsOf, type Asked } from './chat.ts';
import type { ModelRequestEntry, PlayedScript } from './playing.ts';
import { SAID } from './said-words.ts';
import type { ModelFault } from './script.ts';
import { SPOKEN_MS, tone } from './tone.ts';

/** One second of µ-law, bytes. A recognition whose audio begins with the same second as the last one's repeats that one. */
const SECOND_BYTES = 8000;
const HEADER_BYTES = 44;

const SPEECH = z.looseObject({ input: z.string().min(1).max(10_000), response_format: z.enum(['pcm', 'wav']) });
/** Sample rate at which services send speech by convention, Hz. */
const SPEECH_HZ = 24_000;
/** Duration of one piece when `speech_pace` is set, ms. The first piece is longer, as with real services. */
const PIECE_MS = 100;
const FIRST_PIECE_MS = 300;
const BYTES_PER_MS = (SPEECH_HZ * 2) / 1000;

export class HttpModels {
  readonly #played: PlayedScript;
  /** The first second of the last recognized utterance, µ-law. Undefined again when the chat model is asked. */
  #beginning: Uint8Array | undefined;

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
    const recording = recordingOf(body);
    if (recording === undefined) return refuse(reply, 400, 'this is no form with a WAV file');
    const beginning = recording.subarray(0, SECOND_BYTES);
    const isNext = this.#beginning === undefined || Buffer.compare(this.#beginning, beginning) !== 0;
    const understood = this.#played.heard(recording, isNext);
    this.#beginning = beginning;
    const fault = this.#played.fault('recognition');
    const text = fault?.kind === 'empty' ? '' : understood.replaceAll('…', ' ').replaceAll(/\s+/gu, ' ');
    const entry = this.#played.note({ on: 'recognition', text, ...(fault !== undefined && { fault: fault.kind }) });
    if (fault?.kind === 'error') return refuse(reply, fault.status ?? 503, ORDERED);
    const times = fault?.kind === 'hang' ? 'for ever' : this.#played.script.delays?.recognition;
    if (!(await this.#played.takes(times, entry, leftSignal(reply))) || fault?.kind === 'cut') return cutOff(reply);
    return reply.type('application/json').send(fault?.kind === 'torn' ? '{"text":' : JSON.stringify({ text }));
  }

  /** Takes an announcement of what a caller will say, and of its audio. */
  learn({ body }: FastifyRequest, reply: FastifyReply): FastifyReply {
    const parsed = SAID.safeParse(body);
    if (!parsed.success) return refuse(reply, 400, 'this tells no words: it needs `words`, and `mulaw` as Base64');
    this.#played.said.add(parsed.data);
    return reply.code(204).send();
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
    if (cutAt < events.length) raw.socket?.end();
    else raw.end();
  }

  async speak({ body }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const parsed = SPEECH.safeParse(body);
    if (!parsed.success) return refuse(reply, 400, 'this asks for no speech: it needs `input`, and `response_format` pcm or wav');
    const { input, response_format: format } = parsed.data;
    const fault = this.#played.fault('speech');
    const entry = this.#played.note({ on: 'speech', text: input, ...(fault !== undefined && { fault: fault.kind }) });
    if (fault?.kind === 'error') return refuse(reply, fault.status ?? 503, ORDERED);
    const { delays, speech_pace: pace } = this.#played.script;
    const gone = leftSignal(reply);
    if (!(await this.#played.takes(fault?.kind === 'hang' ? 'for ever' : delays?.speech, entry, gone))) return cutOff(reply);
    if (fault?.kind === 'torn') return reply.type('text/html').send('<html>');
    const samples = tone(fault?.kind === 'empty' ? 0 : input.length * SPOKEN_MS, SPEECH_HZ);
    const sound = Buffer.from(format === 'wav' ? pcmWav([samples], SPEECH_HZ) : new Uint8Array(samples.buffer));
    const raw = reply.hijack().raw;
    raw.writeHead(200, { 'content-type': format === 'wav' ? 'audio/wav' : 'audio/pcm' });
    const end = fault?.kind === 'cut' ? sound.length / 2 : sound.length;
    const [firstBytes, pieceBytes] = pace === undefined ? [end, end] : [FIRST_PIECE_MS * BYTES_PER_MS, PIECE_MS * BYTES_PER_MS];
    for (let from = 0, to = firstBytes; from < end; from = to, to += pieceBytes) {
      if (from > 0 && !(await this.#played.pauses(PIECE_MS / (pace ?? 1), gone))) break;
      raw.write(sound.subarray(from, Math.min(to, end)));
    }
    if (fault?.kind === 'cut') raw.socket?.end();
    else raw.end();
    return reply;
  }
}

const ORDERED = 'ordered by the script';

/** Aborts when the client has left. */
function leftSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => left.abort('hang_up'));
  return left.signal;
}

export function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
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

/** The µ-law of the WAV in a form; the WAV must have 16 bits and 8 kHz. Undefined: there is none. */
function recordingOf(body: unknown): Uint8Array | undefined {
  const start = Buffer.isBuffer(body) ? body.indexOf('RIFF') : -1;
  if (!Buffer.isBuffer(body) || start < 0) return undefined;
  // Skips the header: a longer recording of the same utterance has another length there.
  const bytes = body.subarray(start + HEADER_BYTES);
  return encodeMulaw(Int16Array.from({ length: Math.floor(bytes.length / 2) }, (_, index) => bytes.readInt16LE(index * 2)));
}
