// The voice channel: one socket, one call (W-08). Connects a call with its socket; knows no messages.
import type { RawData, WebSocket } from 'ws';
import type { AppError } from '../../base/errors.ts';
import { refusedStream, type Admission } from '../../session/admission.ts';
import { SocketCall, type CallSocket, type SocketCallParts } from './socket-call.ts';
import type { AcceptedSocket } from './upgrade.ts';

export interface VoiceChannelParts extends SocketCallParts {
  /** Counts a socket as a stream. */
  readonly admission: Admission;
}

/** Opens a call for every socket of the voice channel. */
export class VoiceChannel {
  readonly #parts: VoiceChannelParts;

  constructor(parts: VoiceChannelParts) {
    this.#parts = parts;
  }

  /**
   * Starts a call that ends with its socket.
   *
   * @returns a function that ends the call at once with an error.
   */
  take({ socket, visitor, trackingId }: AcceptedSocket): (error: AppError) => void {
    const { admission } = this.#parts;
    const isWelcome = admission.streamOpened();
    const call = new SocketCall(callSocket(socket), visitor, trackingId, this.#parts);
    socket.on('message', (data, isBinary) => {
      call.received(bytesOf(data), isBinary);
    });
    socket.once('close', () => {
      admission.streamClosed();
      call.closed();
    });
    if (!isWelcome) call.fail(refusedStream());
    return (error) => {
      call.fail(error);
    };
  }
}

function callSocket(socket: WebSocket): CallSocket {
  return {
    send: (message, onTaken) => {
      // The callback's error is ignored: a failing socket also emits `error`.
      socket.send(message, { binary: false }, () => {
        onTaken();
      });
    },
    close: (code, reason) => {
      socket.close(code, reason);
    },
    pause: () => {
      socket.pause();
    },
    resume: () => {
      socket.resume();
    },
  };
}

/** The bytes of a message. The sockets of this server always emit buffers. */
export function bytesOf(data: RawData): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.alloc(0);
}
