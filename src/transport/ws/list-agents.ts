// The list channel: one request, one response, then the socket closes (W-50 to W-53). Its messages have no envelope.
import type { RawData } from 'ws';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { CatalogSource } from '../../bot/catalog.ts';
import { CLOSE_CODE, readListRequest, type SocketListAnswer } from '../../contract/envelope.ts';
import type { Gate, Visitor } from '../gate.ts';
import type { Refusals } from '../refused.ts';
import { socketAnswer } from './close-codes.ts';
import { errorEnvelope } from './to-envelope.ts';
import type { AcceptedSocket } from './upgrade.ts';
import { bytesOf } from './voice-channel.ts';

export interface ListAgentsParts {
  readonly settings: { readonly listIdleMs: number };
  readonly gate: Gate;
  readonly catalog: CatalogSource;
  readonly refusals: Refusals;
  readonly clock: Clock;
}

/** Answers every socket of the list channel. */
export class ListAgents {
  readonly #parts: ListAgentsParts;

  constructor(parts: ListAgentsParts) {
    this.#parts = parts;
  }

  /**
   * Waits for the request, answers it, and closes the socket in any case.
   *
   * @returns a function that ends the socket with an error.
   */
  take({ socket, visitor, trackingId }: AcceptedSocket): (error: AppError) => void {
    const { settings, refusals, clock } = this.#parts;
    let isWaiting = true;
    const stopWaiting = (): void => {
      isWaiting = false;
      cancelLimit();
      // Later messages are ignored.
      socket.off('message', asked);
    };
    const refuse = (thrown: unknown): AppError => {
      const error = toAppError(thrown);
      refusals.write('a list socket', error, { trackingId });
      refusals.count(error);
      return error;
    };
    const cancelLimit = clock.after(settings.listIdleMs, () => {
      stopWaiting();
      refuse(new AppError('turn_timeout', 'the socket was opened and no request came'));
      // No ERROR first, because there was no request.
      socket.close(CLOSE_CODE.policy);
    });
    const asked = (data: RawData, isBinary: boolean): void => {
      stopWaiting();
      try {
        if (isBinary) throw new AppError('unsupported_audio', 'the message is binary');
        socket.send(JSON.stringify(this.#answer(bytesOf(data).toString(), visitor)));
        socket.close(CLOSE_CODE.normal);
      } catch (thrown) {
        const error = refuse(thrown);
        const answer = socketAnswer(error);
        // This channel has no conversation.
        const head = { seq: 1, nowMs: clock.nowMs(), conversationId: '' };
        socket.send(errorEnvelope(head, { ...answer, detail: answer.text ?? error.message }).toString());
        socket.close(answer.close);
      }
    };
    socket.on('message', asked);
    socket.once('close', stopWaiting);
    return (error) => {
      if (!isWaiting) return;
      stopWaiting();
      refuse(error);
    };
  }

  /** Every agent of the organization, with the fields of this channel (W-52). */
  #answer(question: string, visitor: Visitor): SocketListAnswer {
    const organizationId = this.#parts.gate.bind(visitor, readListRequest(question).customer_org_id);
    return { virtual_agents: this.#parts.catalog.current.agents(organizationId).map(({ id, name }) => ({ id, name })) };
  }
}
