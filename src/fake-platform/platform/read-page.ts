// Sends one HTTP request and reads the whole answer as text, within limits, because any program may listen on the port.
import type { Clock } from '../../base/clock.ts';
import { exchange, type ExchangeLimits, type HttpRequest, type SendRequest } from '../../base/http-exchange.ts';

export interface PageReader {
  readonly clock: Clock;
  readonly send: SendRequest;
  readonly limits: ExchangeLimits;
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** @throws RequestFailure when no complete answer comes within the limits, or when the signal aborts. */
export function readPage(reader: PageReader, request: HttpRequest, signal: AbortSignal): Promise<Page> {
  return exchange(reader, request, signal, async ({ status, headers, chunks }) => {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    return { status, headers, text: Buffer.concat(parts).toString() };
  });
}
