// What a worker does for the process that started it: says once a second how it is, answers what is asked, and steps aside when
// it drains while others take calls. Takes no part in its calls.
import { every, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { App } from '../app.ts';
import { STATE_PERIOD_MS } from './crew.ts';
import type { Answer, Question, WorkerState } from './messages.ts';
import type { PrimaryLink } from './worker-process.ts';

/** Begins. @returns what ends it; until then whoever started this worker knows that it lives. */
export function attendPrimary(
  app: Pick<App, 'ready' | 'shown' | 'openSessions' | 'openTurns' | 'stopListening'>,
  { link, clock, log }: { readonly link: PrimaryLink; readonly clock: Clock; readonly log: Logger },
): () => void {
  link.onMessage((message) => {
    if (message.kind === 'step_aside') {
      log.info({}, 'new connections are left to the other workers');
      app.stopListening();
      return;
    }
    if (message.kind !== 'ask') return;
    const { id, question } = message;
    void answerTo(question, app.shown)
      .catch((err: unknown) => {
        log.error({ question: question.kind, err }, 'a question of the process that started this one could not be answered');
        return undefined;
      })
      .then((answer) => link.send({ kind: 'answer', id, answer }));
  });
  let isSending = true;
  const sent = (): void => {
    isSending = false;
  };
  void link.send({ kind: 'ready', ready: app.ready, state: stateOf(app) }).then(sent);
  return every(clock, STATE_PERIOD_MS, () => {
    // Nothing piles up while the other process stands still.
    if (isSending) return;
    isSending = true;
    void link.send({ kind: 'state', state: stateOf(app) }).then(sent);
  });
}

function stateOf({ shown, openSessions, openTurns }: Pick<App, 'shown' | 'openSessions' | 'openTurns'>): WorkerState {
  return { readiness: shown.readiness.current, openSessions: openSessions(), openTurns: openTurns() };
}

async function answerTo(question: Question, { metrics, calls, refused }: App['shown']): Promise<Answer> {
  switch (question.kind) {
    case 'metrics':
      return { kind: 'metrics', reading: await metrics.reading() };
    case 'calls':
      return { kind: 'calls', calls: calls.recent(), refused: refused.most };
    case 'call':
      return { kind: 'call', call: calls.find(question.conversationId) };
  }
}
