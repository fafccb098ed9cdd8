// What the assistant of `npm run check -- ai` has done: each run of a tool that changes something, and the history at the end of each call.
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import type { Message } from '../../src/ai/index.ts';

/** How long a tool takes, ms: from a moment to longer than callers wait. */
const LEAST_MS = 20;
const MOST_MS = 600;

/** Whoever starts it closes it. */
export class Ledger {
  /** How often each use was run. */
  readonly runs = new Map<string, number>();
  /** Uses of each call that have ended with a result. */
  readonly results = new Map<string, string[]>();
  readonly histories = new Map<string, readonly Message[]>();
  readonly #server: FastifyInstance;

  private constructor(server: FastifyInstance, random: () => number) {
    this.#server = server;
    const works = (): Promise<void> => pause(LEAST_MS + random() * (MOST_MS - LEAST_MS));
    server.post('/look', async () => {
      await works();
      return 'three are free';
    });
    server.post<{ Body: { call: string; useId: string } }>('/book', async ({ body: { call, useId } }) => {
      this.runs.set(useId, (this.runs.get(useId) ?? 0) + 1);
      await works();
      this.results.set(call, [...(this.results.get(call) ?? []), useId]);
      return 'booked';
    });
    server.post<{ Body: { call: string; messages: readonly Message[] } }>('/end', ({ body: { call, messages } }) => {
      this.histories.set(call, messages);
      return 'thanks';
    });
  }

  static async start(random: () => number): Promise<Ledger> {
    const ledger = new Ledger(fastify({ logger: false, forceCloseConnections: true }), random);
    await ledger.#server.listen({ host: '127.0.0.1', port: 0 });
    return ledger;
  }

  get url(): string {
    // A server that listens on a port has an address object; only pipes have a string.
    return `http://127.0.0.1:${String((this.#server.server.address() as AddressInfo).port)}`;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
