// A worker's connection to the primary process: reports state once a second, answers questions, and notices when the primary ends.
import cluster, { type Worker } from 'node:cluster';
import { every, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { App } from '../app.ts';
import type { ProcessControl } from '../control/process-control.ts';
import { environmentValue } from '../config/sources.ts';
import { isSent, type FromWorker, type Sent, type ToWorker } from './messages.ts';
import { STARTS_DRAINED } from './worker-process.ts';
import { STATE_PERIOD_MS } from './workers.ts';

export class PrimaryLink {
  readonly #worker: Worker;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** @returns undefined when this process is no worker. */
  static find(): PrimaryLink | undefined {
    return cluster.isWorker && cluster.worker !== undefined ? new PrimaryLink(cluster.worker) : undefined;
  }

  /** The id of this worker. */
  get id(): number {
    return this.#worker.id;
  }

  /** Whether the server was drained when this worker was started. */
  get startsDrained(): boolean {
    return environmentValue(STARTS_DRAINED) === 'true';
  }

  /** Resolves when the message was sent or the primary is gone. */
  send(parley: FromWorker): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        resolve();
      };
      if (this.#worker.isConnected()) this.#worker.send({ parley } satisfies Sent<FromWorker>, done);
      else done();
    });
  }

  onMessage(listener: (message: ToWorker) => void): void {
    this.#worker.on('message', (sent: unknown) => {
      if (isSent<ToWorker>(sent)) listener(sent.parley);
    });
  }

  /** Calls `listener` when the primary is gone. The worker then decides itself when to end. */
  onLost(listener: () => void): void {
    this.#worker.once('disconnect', () => {
      // Without this, Node would end the process before its calls have finished.
      this.#worker.exitedAfterDisconnect = true;
      listener();
    });
  }

  /** Disconnects from the primary, so that the channel no longer keeps this process alive. */
  leave(): void {
    if (this.#worker.isConnected()) this.#worker.disconnect();
  }
}

export interface AttendingParts {
  readonly link: Pick<PrimaryLink, 'send' | 'onMessage' | 'onLost'>;
  readonly control: Pick<ProcessControl, 'run'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Serves the primary: reports the state once a second, and answers. @returns a function that closes the app and stops serving. */
export function attendPrimary(
  app: Pick<App, 'ready' | 'shown' | 'stopListening' | 'close'>,
  { link, control, clock, log }: AttendingParts,
): () => Promise<void> {
  let doAllStop = false;
  const allStop = (): void => {
    doAllStop = true;
  };
  link.onLost(allStop);
  link.onMessage((message) => {
    if (message.kind === 'all_stop') allStop();
    if (message.kind === 'command') {
      void control.run(message.command).then((controlled) => {
        // Sent before the answer, so that the primary knows whether this worker is ready when it answers its operator.
        sayState();
        return link.send({ kind: 'answer', id: message.id, answer: { controlled } });
      });
    }
    if (message.kind !== 'ask') return;
    const { id, question } = message;
    void app.shown
      .answer(question)
      .catch((err: unknown) => {
        log.error({ question, err }, 'a question of the process that started this one could not be answered');
        return {};
      })
      .then((answer) => link.send({ kind: 'answer', id, answer }));
  });
  const sayState = (): void => {
    void link.send({ kind: 'state', ready: app.ready, readiness: app.shown.readiness.current });
  };
  sayState();
  const cancelState = every(clock, STATE_PERIOD_MS, sayState);
  return async () => {
    // A draining worker would still get new connections, and refuse what other workers accept. When all workers stop, it keeps listening,
    // because the load balancer has not noticed yet.
    const cancelAside = clock.after(STATE_PERIOD_MS, () => {
      if (doAllStop) return;
      log.info({}, 'new connections are left to the other workers');
      app.stopListening();
    });
    await app.close();
    cancelAside();
    cancelState();
  };
}
