// The process that starts the workers, as one of them sees it: gets once a second how the worker is, asks, and may be lost.
import cluster, { type Worker } from 'node:cluster';
import { every, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { App } from '../app.ts';
import { isSent, type Answer, type FromWorker, type Question, type Sent, type ToWorker } from './messages.ts';
import { STATE_PERIOD_MS } from './workers.ts';

export class PrimaryLink {
  readonly #worker: Worker;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Undefined: no other process started this one. */
  static find(): PrimaryLink | undefined {
    return cluster.isWorker && cluster.worker !== undefined ? new PrimaryLink(cluster.worker) : undefined;
  }

  /** Of this worker. */
  get id(): number {
    return this.#worker.id;
  }

  /** Resolves when the message is on its way, also when nobody is there any more. */
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

  /** Calls it when the other process is gone; this one then decides itself when it ends. */
  onLost(listener: () => void): void {
    this.#worker.once('disconnect', () => {
      // Without this Node ends the process before it has finished a single call.
      this.#worker.exitedAfterDisconnect = true;
      listener();
    });
  }

  /** Lets go of the other process: it no longer keeps this one alive. */
  leave(): void {
    if (this.#worker.isConnected()) this.#worker.disconnect();
  }
}

/** What a worker does for whoever started it: says once a second how it is, and answers. @returns closes the server and ends that. */
export function attendPrimary(
  app: Pick<App, 'ready' | 'shown' | 'stopListening' | 'close'>,
  { link, clock, log }: { readonly link: Pick<PrimaryLink, 'send' | 'onMessage' | 'onLost'>; readonly clock: Clock; readonly log: Logger },
): () => Promise<void> {
  let doAllStop = false;
  const allStop = (): void => {
    doAllStop = true;
  };
  link.onLost(allStop);
  link.onMessage((message) => {
    if (message.kind === 'all_stop') allStop();
    if (message.kind !== 'ask') return;
    const { id, question } = message;
    void answerTo(question, app.shown)
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
    // Connections would go on being dealt out to it, and meet refusals here which the others would not give. Where all of them
    // stop, whoever stands before them has not noticed yet.
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

async function answerTo(question: Question, { metrics, calls, refused }: App['shown']): Promise<Answer> {
  if (question === 'metrics') return { metrics: await metrics.reading() };
  if (question === 'calls') return { calls: calls.recent(), refused: refused.most };
  return { call: calls.find(question.conversationId) };
}
