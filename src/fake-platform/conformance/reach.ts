// Tests before and after all checks whether a server is there: does it answer, does it want a token, can a call be placed.
import type { Failure } from '../lines/failure.ts';
import type { Probe } from './probe.ts';
import type { Reached } from './suspect.ts';
import { CheckGivenUp } from './verdict.ts';

/**
 * Begins a call and lists the agents, with the given token and without one.
 *
 * @param probe - is closed.
 * @param signal - ends it at once; undefined is returned then.
 */
export async function reach(probe: Probe, signal: AbortSignal | undefined): Promise<Reached | Failure | undefined> {
  const stop = (): void => {
    probe.close();
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    const authorization = probe.goodAuthorization ?? null;
    const call = await probe.present(authorization);
    const list = await probe.presentToList(authorization);
    const bareCall = authorization === null ? call : await probe.present(null);
    const bareList = authorization === null ? list : await probe.presentToList(null);
    if (signal?.aborted === true) return undefined;
    // The error of one method may be the server's own: only when neither answers is nobody there.
    if (call.isNobody && list.isNobody && !bareCall.isTaken) return call.failure;
    return {
      // The code of a rejection has its own rule (G-02, W-06).
      wantsToken: !bareCall.isTaken && (bareCall.isDenied || call.hasFinal),
      listWantsToken: !bareList.isTaken && (bareList.isDenied || list.isTaken),
      canCall: call.hasFinal,
      whyNot: call.hasFinal ? '' : call.whyNot,
    };
  } catch (thrown) {
    if (thrown instanceof CheckGivenUp) return undefined;
    throw thrown;
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

/** Begins one more call. @param probe - is closed. @returns why it is not answered any more. */
export async function missed(probe: Probe): Promise<Failure | undefined> {
  try {
    const { hasFinal, failure } = await probe.present(probe.goodAuthorization ?? null);
    // No room is not silence.
    return hasFinal || probe.isOverloaded ? undefined : failure;
  } finally {
    probe.close();
  }
}
