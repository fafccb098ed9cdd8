// A turn of a test while it is answered.
import { linkForeignAbort, type LinkedAbort } from '../base/abort.ts';

/** A turn whose handler is running. */
export interface Answering {
  readonly stop: LinkedAbort;
  /** Resolves when its handler has finished. */
  ended: Promise<{ readonly thrown: unknown } | undefined>;
  /** Resolves when nobody waits for it any more. */
  readonly left: Promise<undefined>;
  readonly leave: () => void;
  isOver: boolean;
}

export function newAnswering(): Answering {
  let leave: () => void = () => undefined;
  const left = new Promise<undefined>((resolve) => {
    leave = () => {
      resolve(undefined);
    };
  });
  return { stop: linkForeignAbort(), ended: Promise.resolve(undefined), left, leave, isOver: false };
}
