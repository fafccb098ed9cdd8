// A single connection to a Redis server: opened once, used, and lost once for any reason. A server that does not answer counts as lost. The
// link opens the next wire.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { answerDeadline } from './answer-deadline.ts';
import type { RedisClient, RedisPackage } from './client-package.ts';
import { away, broken, crowded, isRefused, isUnusable, reasonOf, refusalWord, refused, silent } from './failure.ts';

/** Most pending commands; further ones fail. A server that answers within milliseconds never has as many. */
const MAX_PENDING = 5000;

/** The options of a wire. */
export interface WireOptions {
  readonly client: RedisClient;
  readonly isRefusal: RedisPackage['isRefusal'];
  /** Longest wait for one answer, and for opening the wire as a whole, ms. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Called exactly once, also when opening fails; not after `end`. */
  readonly onLost: (failure: AppError) => void;
}

/** A wire. Call `open`, and `end` unless the wire was lost. */
export class RedisWire {
  /** Resolves when nothing of the connection is left, at the latest after the limit for a connection attempt. */
  readonly ended: Promise<void>;
  readonly #options: WireOptions;
  #settleEnded: () => void = () => undefined;
  #settleReady: (failure?: AppError) => void = () => undefined;
  #isConnected = false;
  #isLost = false;
  #pending = 0;

  constructor(options: WireOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#settleEnded = resolve;
    });
    const { client } = options;
    client.on('connect', () => {
      this.#isConnected = true;
      if (this.#isLost) this.#destroy();
    });
    client.on('ready', () => {
      this.#settleReady();
    });
    client.on('end', () => {
      this.#lose(away());
    });
    client.on('error', (error) => {
      this.#lose(this.#failureOf(error));
      // Also after a failed opening, which leaves nothing to wait for.
      this.#destroy();
    });
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Connects, logs in and checks whether the server is usable. @throws AppError `store_unavailable` when not; then the wire is lost. */
  async open(): Promise<void> {
    const { client, clock, timeoutMs } = this.#options;
    const ready = new Promise<void>((resolve, reject) => {
      this.#settleReady = (failure) => {
        if (failure === undefined) resolve();
        else reject(failure);
      };
    });
    const cancelTimer = clock.after(timeoutMs, () => {
      this.#lose(silent());
    });
    // An `error` event usually comes before, with the reason.
    client.connect().catch((thrown: unknown) => {
      this.#lose(this.#failureOf(thrown));
      this.#destroy();
    });
    try {
      await ready;
      await this.check();
    } finally {
      cancelTimer();
    }
  }

  /** Checks that the server answers and is no replica. @throws AppError `store_unavailable` when not; then the wire is lost. */
  async check(): Promise<void> {
    const [role] = await Promise.all([
      // A user without the right to ask for the role: the first write to a replica reveals it.
      this.send(['ROLE']).catch(() => undefined),
      this.send(['PING']).catch((failure: unknown) => {
        this.#lose(this.#failureOf(failure));
        throw failure;
      }),
    ]);
    if (!Array.isArray(role) || role[0] !== 'slave') return;
    const failure = refused('READONLY');
    this.#lose(failure);
    throw failure;
  }

  /**
   * Sends one command.
   *
   * @param limitMs - longest wait for the answer, ms; default: `timeoutMs`. Without an answer within `timeoutMs` the wire is lost.
   * @throws AppError `store_unavailable`, also for an error answer.
   */
  send(args: readonly string[], limitMs = this.#options.timeoutMs): Promise<unknown> {
    const { client, clock, timeoutMs } = this.#options;
    if (this.#isLost) return Promise.reject(away());
    if (this.#pending >= MAX_PENDING) return Promise.reject(crowded());
    this.#pending += 1;
    return new Promise((resolve, reject) => {
      const cancelDeadline = answerDeadline(limitMs, clock, () => {
        const failure = silent();
        reject(failure);
        if (limitMs >= timeoutMs) this.#lose(failure);
      });
      const answered = (): void => {
        this.#pending -= 1;
        cancelDeadline();
      };
      client.sendCommand(args).then(
        (value) => {
          answered();
          resolve(value);
        },
        (thrown: unknown) => {
          answered();
          const failure = this.#failureOf(thrown, args[0]);
          reject(failure);
          if (isRefused(failure) && isUnusable(reasonOf(failure))) this.#lose(failure);
        },
      );
    });
  }

  /** Closes the wire without calling `onLost`. Pending commands fail. */
  end(): void {
    if (this.#isLost) return;
    this.#give(away());
  }

  #failureOf(thrown: unknown, command?: string): AppError {
    if (thrown instanceof AppError) return thrown;
    if (this.#options.isRefusal(thrown)) return refused(refusalWord(thrown.message), command);
    return broken(thrown);
  }

  #lose(failure: AppError): void {
    if (this.#isLost) return;
    this.#give(failure);
    this.#options.onLost(failure);
  }

  #give(failure: AppError): void {
    this.#isLost = true;
    this.#settleReady(failure);
    // A running connection attempt cannot be stopped; its connection is destroyed when it is established or has failed.
    if (this.#isConnected) this.#destroy();
  }

  #destroy(): void {
    this.#options.client.destroy();
    this.#settleEnded();
  }
}
