// The service side of a socket of the realtime protocol: checks received events as a service does, and sends events.
import type { RawData, WebSocket } from 'ws';
import type { z } from 'zod';
import { parseJson } from '../../base/json.ts';

export interface FakeSocketOptions<Schema extends z.ZodType> {
  readonly socket: WebSocket;
  /** The events that the service accepts; others are refused. */
  readonly schema: Schema;
  readonly onEvent: (event: z.output<Schema>) => void;
  /** Adds members to every event that is sent. Undefined: events are sent as they are. */
  readonly completed?: (event: object) => object;
}

export class FakeSocket<Schema extends z.ZodType> {
  readonly #socket: WebSocket;
  readonly #completed: (event: object) => object;
  readonly #gone = new AbortController();

  constructor({ socket, schema, onEvent, completed = (event) => event }: FakeSocketOptions<Schema>) {
    this.#socket = socket;
    this.#completed = completed;
    socket.on('message', (data: RawData) => {
      const parsed = schema.safeParse(parseJson(Buffer.isBuffer(data) ? data.toString() : ''));
      if (parsed.success) onEvent(parsed.data);
      else this.refuse('invalid_event', parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.#gone.abort('hang_up'));
    this.send({ type: 'session.created', session: {} });
  }

  /** Aborts when the client has left. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** @param isTorn - whether to send invalid JSON: the text without its end. */
  send(event: object, isTorn = false): void {
    const text = JSON.stringify(this.#completed(event));
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(isTorn ? text.slice(0, -2) : text);
  }

  refuse(code: string, message: string, eventId: string | null = null): void {
    this.send({ type: 'error', error: { type: 'invalid_request_error', code, message, event_id: eventId } });
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
