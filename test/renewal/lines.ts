// Ways to call a server over each transport, with the tokens that the platform presents. Each call has two turns: its
// beginning and its end. Knows no administration and counts nothing.
import { status } from '@grpc/grpc-js';
import { PlatformCall } from '../support/platform-call.ts';
import { PlatformClient, statusName } from '../support/platform-client.ts';
import { SocketCaller, socketEvent, SocketPeer } from '../support/socket-peer.ts';
import { event } from '../support/wire-audio.ts';
import type { PresentedToken } from './presented-tokens.ts';

/** How a turn ended: answered, refused for its token, or what went wrong. */
export type TurnEnd = 'answered' | 'refused' | { readonly broken: string };

/** One call. */
export interface PlacedCall {
  /** Its first turn. */
  begin(): Promise<TurnEnd>;
  /** Its last one. @param last - the token that the platform presents by then, where each turn has one. */
  end(last: PresentedToken): Promise<TurnEnd>;
}

/** A way to a server that is there now. */
export interface Lines {
  call(presented: PresentedToken): PlacedCall;
  close(): void;
}

/** Nobody at all: the client's own, for no message is sent in its name. */
const NOBODY = 'nobody';

/** Over gRPC, where each turn has a token. @param target - `localhost:PORT`, plaintext. */
export function grpcLines(target: string): Lines {
  const client = new PlatformClient({ target, organizationId: NOBODY });
  const turn = async (conversation: PlatformCall, name: 'SESSION_START' | 'SESSION_END'): Promise<TurnEnd> => {
    const code = await conversation.turn(event(name)).then(
      ({ ending }) => ending.code,
      () => status.UNKNOWN,
    );
    if (code === status.OK) return 'answered';
    return code === status.UNAUTHENTICATED ? 'refused' : { broken: statusName(code) };
  };
  return {
    call: ({ organizationId, token }) => {
      const withToken = (authorization: string) => ({ organizationId, open: () => client.open({ metadata: { authorization } }) });
      const conversation = new PlatformCall(withToken(token));
      return {
        begin: () => turn(conversation, 'SESSION_START'),
        end: (last) => turn(new PlatformCall(withToken(last.token), conversation.ids), 'SESSION_END'),
      };
    },
    close: () => {
      client.close();
    },
  };
}

/** Over WebSocket, where the token of the upgrade is that of the whole call. @param target - `ws://localhost:PORT`. */
export function socketLines(target: string): Lines {
  const sockets = new Set<SocketPeer>();
  const ended = async (work: Promise<boolean>): Promise<TurnEnd> => {
    try {
      return (await work) ? 'answered' : { broken: 'the server closed in another way' };
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : 'unknown';
      return why.endsWith('refused with 401') ? 'refused' : { broken: why };
    }
  };
  return {
    call: ({ organizationId, token }) => {
      let caller: SocketCaller | undefined;
      const begin = async (): Promise<boolean> => {
        const peer = await SocketPeer.connect(`${target}/v1/va`, { headers: { authorization: `Bearer ${token}` } });
        sockets.add(peer);
        caller = new SocketCaller(peer, organizationId);
        caller.say(socketEvent('SESSION_START'));
        await caller.replied(1);
        return true;
      };
      const end = async (): Promise<boolean> => {
        if (caller === undefined) throw new Error('the call has not begun');
        const { peer } = caller;
        caller.say(socketEvent('SESSION_END'));
        peer.socket.close(1000);
        const { code } = await peer.closed();
        sockets.delete(peer);
        return code === 1000;
      };
      return { begin: () => ended(begin()), end: () => ended(end()) };
    },
    close: () => {
      for (const { socket } of sockets) socket.terminate();
    },
  };
}
