// Both health services: the standard one for load balancers and the platform's own (U-01). A check needs no token; a
// watch does (G-04). A response never repeats the requested name.
import { status, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { service as standardService } from 'grpc-health-check';
import { AppError } from '../../base/errors.ts';
import { SERVING_STATUS, type Contract } from '../../contract/grpc.ts';
import { asStream, createOneRequest, type AnsweringCall, type OneRequestParts } from './one-request.ts';
import type { StreamCheck } from './stream-check.ts';

/** Most watches at once, on both services together. */
const MAX_WATCHERS = 100;

type Standing = 'serving' | 'not_serving' | 'unknown';

/** The differences between the two services. */
interface Dialect {
  readonly definition: ServiceDefinition;
  readonly words: Readonly<Record<Standing, number | string>>;
  /** Whether a check of an unknown service is an error; a watch of one never is. */
  readonly hasNotFound: boolean;
}

interface HealthRequest {
  readonly service?: string;
}
interface HealthResponse {
  readonly status: number | string;
}

/** An entry for `addService`. */
export interface HealthService {
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
}

interface Watcher {
  readonly notify: () => void;
  readonly end: () => void;
}

/** Reports whether the server takes calls. One per server. */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #tokens: StreamCheck;
  readonly #parts: OneRequestParts;
  readonly #watchers = new Set<Watcher>();
  #isServing = false;

  /** @param services - names of services that are known; the empty name always is. */
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

  /** The platform's own service. An unknown name is UNKNOWN there. */
  platform({ definition }: Contract['health']): HealthService {
    const { SERVING, NOT_SERVING, UNKNOWN } = SERVING_STATUS;
    return this.#service({ definition, words: { serving: SERVING, not_serving: NOT_SERVING, unknown: UNKNOWN }, hasNotFound: false });
  }

  /** Changes the state of both services and notifies the watchers. */
  setServing(isServing: boolean): void {
    if (this.#isServing === isServing) return;
    this.#isServing = isServing;
    for (const watcher of this.#watchers) watcher.notify();
  }

  /** Ends every watch, because a stopping server would wait for them. */
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
