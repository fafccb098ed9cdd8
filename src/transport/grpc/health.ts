// Both health services: the standard one that load balancers ask and the platform's own (U-01). A single check is open
// to everybody; watching needs a token like everything else (G-04).
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { AppError } from '../../base/errors.ts';
import { SERVING_STATUS, type HealthRequest, type HealthResponse } from '../../contract/grpc.ts';
import { grpcStatus } from './status.ts';

/** Most watches of the platform's service at once; the standard service has the same bound. */
const MAX_WATCHERS = 100;

/** Tells whether the server takes calls. One per server. */
export class Health {
  /** The standard service, `grpc.health.v1.Health`. */
  readonly standard: HealthImplementation;
  readonly #services: ReadonlySet<string>;
  readonly #watchers = new Set<ServerWritableStream<HealthRequest, HealthResponse>>();
  #isServing = false;

  /** @param services - names that may be asked about beside the empty one. */
  constructor(services: readonly string[]) {
    this.#services = new Set(['', ...services]);
    this.standard = new HealthImplementation(Object.fromEntries([...this.#services].map((name) => [name, 'NOT_SERVING'])));
  }

  /** Changes the answer of both services and tells everybody who watches. */
  setServing(isServing: boolean): void {
    this.#isServing = isServing;
    for (const name of this.#services) this.standard.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING');
    for (const watcher of this.#watchers) watcher.write(this.#answer(watcher.request.service));
  }

  /** Handlers of the platform's own service (section 1.8 of the contract). */
  readonly platform = {
    Check: (call: ServerUnaryCall<HealthRequest, HealthResponse>, callback: sendUnaryData<HealthResponse>): void => {
      callback(null, this.#answer(call.request.service));
    },
    Watch: (call: ServerWritableStream<HealthRequest, HealthResponse>): void => {
      if (this.#watchers.size >= MAX_WATCHERS) {
        call.emit('error', grpcStatus(new AppError('overloaded', 'too many clients watch the health of this server')));
        return;
      }
      this.#watchers.add(call);
      call.on('cancelled', () => this.#watchers.delete(call));
      call.write(this.#answer(call.request.service));
    },
  } satisfies UntypedServiceImplementation;

  /** Ends every watch; without this a stopping server would wait for its watchers. */
  close(): void {
    this.setServing(false);
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
  }

  // This proto has no SERVICE_UNKNOWN: a name nobody serves is UNKNOWN.
  #answer(service = ''): HealthResponse {
    if (!this.#services.has(service)) return { status: SERVING_STATUS.UNKNOWN };
    return { status: this.#isServing ? SERVING_STATUS.SERVING : SERVING_STATUS.NOT_SERVING };
  }
}
