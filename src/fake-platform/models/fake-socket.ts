// The service's end of a socket of the realtime protocol: checks what it is sent as a service does, and answers with events.
import type { RawData, WebSocket } from 'ws';
import type { z } from 'zod';
import { parseJson } from '../../base/json.ts';

export interface FakeSocketOptions<Schema extends z.ZodType> {
  readonly socket: WebSocket;
  /** The events that the service takes; others are refused. */
  readonly schema: Schema;
  readonly onEvent: (event: z.output<Schema>) => void;
  /** Completes every event that is sent. Default: sent as it is. */
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

  /** @param isTorn - sent without its end. */
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
