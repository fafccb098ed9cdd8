// Holds the answers of one gRPC call back while it is shut: one message at most is read off the wire meanwhile, and the
// server feels the full window. The library's own streams read sixteen ahead.
import { InterceptingCall, ListenerBuilder, type Interceptor } from '@grpc/grpc-js';

/** The gate of one call; open at first. */
export class ReadingGate {
  #isShut = false;
  #held: (() => void) | undefined;

  /** Puts the gate between the wire and the call. */
  readonly interceptor: Interceptor = (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, _listener, next) => {
        const gated = new ListenerBuilder().withOnReceiveMessage((message: unknown, pass: (message: unknown) => void) => {
          if (this.#isShut)
            this.#held = () => {
              pass(message);
            };
          else pass(message);
        });
        next(metadata, gated.build());
      },
    });

  /** Holds back what comes from now on. */
  readonly shut = (): void => {
    this.#isShut = true;
  };

  /** Lets through what was held, and what comes. */
  readonly open = (): void => {
    this.#isShut = false;
    const held = this.#held;
    this.#held = undefined;
    held?.();
  };
}
