// The voice channel: one socket, one call (W-08). Joins the call with its socket; what is said on it, it does not know.
import type { RawData, WebSocket } from 'ws';
import type { AppError } from '../../base/errors.ts';
import { refusedStream, type Admission } from '../../session/admission.ts';
import { SocketCall, type CallSocket, type SocketCallParts } from './socket-call.ts';
import type { AcceptedSocket } from './upgrade.ts';

/** What the channel is made of. */
export interface VoiceChannelParts extends SocketCallParts {
  /** Counts a socket as a stream. */
  readonly admission: Admission;
}

/** Gives every socket of the voice channel its call. */
export class VoiceChannel {
  readonly #parts: VoiceChannelParts;

  constructor(parts: VoiceChannelParts) {
    this.#parts = parts;
  }

  /**
   * The call begins with the first message and ends with the socket.
   *
   * @returns ends it at once, for what the call itself does not see of its socket.
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
      // With what went wrong, when the socket is closing; it says so itself.
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

/** The bytes of a message. The sockets of this server hand out buffers, never the other forms. */
export function bytesOf(data: RawData): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.alloc(0);
}
