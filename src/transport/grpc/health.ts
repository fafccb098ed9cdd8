// Both health services: the standard one that load balancers ask and the platform's own (U-01). A single check is open
// to everybody; watching needs a token like everything else (G-04). What a client asks for is never repeated to it.
import { status, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { service as standardService } from 'grpc-health-check';
import { AppError } from '../../base/errors.ts';
import { SERVING_STATUS, type Contract } from '../../contract/grpc.ts';
import { asStream, createOneRequest, type AnsweringCall, type OneRequestParts } from './one-request.ts';
import type { StreamCheck } from './stream-check.ts';

/** Most watches at once, on both services together. */
const MAX_WATCHERS = 100;

/** What can be said of a service. */
type Standing = 'serving' | 'not_serving' | 'unknown';

/** One of the two services: its RPCs and its words. */
interface Dialect {
  readonly definition: ServiceDefinition;
  readonly words: Readonly<Record<Standing, number | string>>;
  /** A check of a service that nobody serves is an error; a watch of it never is. */
  readonly hasNotFound: boolean;
}

/** The messages of both services. */
interface HealthRequest {
  readonly service?: string;
}
interface HealthResponse {
  readonly status: number | string;
}

/** What to add to a server. */
export interface HealthService {
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
}

interface Watcher {
  readonly notify: () => void;
  readonly end: () => void;
}

/** Answers whether the server takes calls. One per server. */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #tokens: StreamCheck;
  readonly #parts: OneRequestParts;
  readonly #watchers = new Set<Watcher>();
  #isServing = false;

  /** @param services - names that may be asked about beside the empty one. */
  constructor(services: readonly string[], tokens: StreamCheck, parts: OneRequestParts) {
    this.#services = new Set(['', ...services]);
    this.#tokens = tokens;
    this.#parts = parts;
  }

  /** The standard service, `grpc.health.v1.Health`. */
  standard(): HealthService {
    return this.#service({
      definition: standardService,
      words: { serving: 'SERVING', not_serving: 'NOT_SERVING', unknown: 'SERVICE_UNKNOWN' },
      hasNotFound: true,
    });
  }

  /** The platform's own service (section 1.8 of the contract). It has no word for a name that nobody serves but UNKNOWN. */
  platform({ definition }: Contract['health']): HealthService {
    const { SERVING, NOT_SERVING, UNKNOWN } = SERVING_STATUS;
    return this.#service({ definition, words: { serving: SERVING, not_serving: NOT_SERVING, unknown: UNKNOWN }, hasNotFound: false });
  }

  /** Changes the answer of both services and notifies everybody who watches. */
  setServing(isServing: boolean): void {
    if (this.#isServing === isServing) return;
    this.#isServing = isServing;
    for (const watcher of this.#watchers) watcher.notify();
  }

  /** Ends every watch; without this a stopping server would wait for its watchers. */
  close(): void {
    this.setServing(false);
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
  }

  #service({ definition, words, hasNotFound }: Dialect): HealthService {
    const answer = (service: string): HealthResponse => ({ status: words[this.#standing(service)] });
    const check = createOneRequest<HealthRequest, HealthResponse>(this.#parts, {
      tokens: undefined,
      what: 'a health check',
      answer: ({ service = '' }, call) => {
        this.#tokens.answered(call);
        if (hasNotFound && this.#standing(service) === 'unknown') {
          call.emit('error', Object.assign(new Error('no such service'), { code: status.NOT_FOUND }));
          return;
        }
        call.write(answer(service));
        call.end();
      },
    });
    const watch = createOneRequest<HealthRequest, HealthResponse>(this.#parts, {
      tokens: this.#tokens,
      what: 'a health watch',
      answer: ({ service = '' }, call) => {
        this.#watch(call, () => answer(service));
      },
    });
    const { Check, Watch } = definition;
    if (Check === undefined || Watch === undefined) throw new AppError('internal', 'the health service lacks a method');
    return { definition: { Check: asStream(Check), Watch: asStream(Watch) }, handlers: { Check: check, Watch: watch } };
  }

  #standing(service: string): Standing {
    if (!this.#services.has(service)) return 'unknown';
    return this.#isServing ? 'serving' : 'not_serving';
  }

  #watch(call: AnsweringCall<HealthResponse>, answer: () => HealthResponse): void {
    if (this.#watchers.size >= MAX_WATCHERS) throw new AppError('overloaded', 'too many clients watch the health of this server');
    const watcher: Watcher = {
      notify: () => {
        call.write(answer());
      },
      end: () => {
        call.end();
      },
    };
    this.#watchers.add(watcher);
    call.on('cancelled', () => this.#watchers.delete(watcher));
    watcher.notify();
  }
}
