// A single connection to a Redis server: it is opened, used, and lost for whatever reason. A silent server is as lost as a missing
// one. The link opens the next one.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { answerDeadline } from './answer-deadline.ts';
import type { RedisClient, RedisPackage } from './client-package.ts';
import { away, broken, crowded, isRefused, isUnusable, reasonOf, refusalWord, refused, silent } from './failure.ts';

/** Most pending commands; further ones fail. A server that answers in a millisecond never has as many. */
const MAX_PENDING = 5000;

/** The options of a wire. */
export interface WireOptions {
  readonly client: RedisClient;
  readonly isRefusal: RedisPackage['isRefusal'];
  /** Longest wait for one answer, and for the whole opening, ms. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Called exactly once, whether it was open or not; not after `end`. */
  readonly onLost: (failure: AppError) => void;
}

/** Call `open`, and `end` unless it was lost. */
export class RedisWire {
  /** Resolves when nothing of the connection is left: at the latest after the limit for the connection attempt. */
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
      // Also after a failed opening: there is nothing left to wait for.
      this.#destroy();
    });
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Connects, logs in and checks whether the server can be used. @throws AppError `store_unavailable`; it is lost then. */
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
    // The reason usually comes before as an `error`.
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

  /** Asks the server whether it can be used: it answers, and is no replica. @throws AppError `store_unavailable`; it is lost then. */
  async check(): Promise<void> {
    const [role] = await Promise.all([
      // Some users may not ask for the role; their first write reveals it.
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
   * @param limitMs - longest wait for its answer; default: the usual one. When even the usual time passes, the wire is
   * lost.
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

  /** Closes it without calling `onLost`. Pending commands fail. */
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
    // A connection attempt cannot be destroyed; the connection is, as soon as it is established or has failed.
    if (this.#isConnected) this.#destroy();
  }

  #destroy(): void {
    this.#options.client.destroy();
    this.#settleEnded();
  }
}
