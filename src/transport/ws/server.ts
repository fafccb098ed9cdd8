// The WebSocket server: both channels of the contract behind the gate, on their own port or on a shared one, the
// pings of all sockets, and the order of shutdown.
import type { WebSocket } from 'ws';
import { waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { CatalogSource } from '../../bot/catalog.ts';
import { CLOSE_CODE } from '../../contract/envelope.ts';
import type { Admission } from '../../session/admission.ts';
import type { Sessions } from '../../session/sessions.ts';
import { SOLE_HOME, type CallHomes } from '../homes.ts';
import type { SocketListener, SocketListenerOptions } from '../socket-listener.ts';
import type { Gate } from '../gate.ts';
import { Refusals } from '../refused.ts';
import { breachOf } from './close-codes.ts';
import { openHttpListener } from './http-listener.ts';
import { KeepAlive } from './keep-alive.ts';
import { ListAgents } from './list-agents.ts';
import type { SocketServerSettings } from './settings.ts';
import { ToEnvelope } from './to-envelope.ts';
import { Upgrades, type AcceptedSocket, type Channel } from './upgrade.ts';
import { VoiceChannel } from './voice-channel.ts';

export interface SocketServerParts {
  readonly settings: SocketServerSettings;
  /** Paths of the platform profile (W-01). */
  readonly paths: { readonly voicePath: string; readonly listPath: string };
  /** Header with the platform's correlation id, lower case. */
  readonly trackingHeader: string;
  readonly gate: Gate;
  readonly sessions: Sessions;
  /** Default: all calls live in this process. */
  readonly homes?: CallHomes;
  readonly catalog: CatalogSource;
  readonly admission: Admission;
  readonly mayTake: SocketListenerOptions['mayTake'];
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts upgrades and sockets that ended with an error. */
  readonly onRefused: (code: ErrorCode) => void;
}

/** A running WebSocket server. */
export interface SocketServer {
  /** Takes an upgrade request from any HTTP server in this process. */
  readonly upgrade: Upgrades['upgrade'];
  /** Opens its own port. @throws AppError `listen_failed`. */
  listen(): Promise<Pick<SocketListener, 'address' | 'port'>>;
  /** Number of open sockets, of both channels. */
  readonly openSockets: number;
  /** Refuses upgrades from now on, until it is called with false; open sockets go on. */
  drain(isDraining?: boolean): void;
  /** Closes its own port; open connections go on. */
  stopListening(): void;
  /** Resolves when no socket for a call is open any more, after `limitMs` at the latest. */
  callsOver(limitMs: number): Promise<void>;
  /**
   * Refuses upgrades, lets the platform close the sockets of ended calls, closes the others with 1001, and terminates
   * what is left after `limitMs`.
   */
  close(limitMs: number): Promise<void>;
}

/** Makes the server. It accepts upgrades at once; its own port opens with `listen`. */
export function createSocketServer(parts: SocketServerParts): SocketServer {
  return new Sockets(parts);
}

class Sockets implements SocketServer {
  readonly upgrade: Upgrades['upgrade'];
  readonly #parts: SocketServerParts;
  readonly #upgrades: Upgrades;
  readonly #keepAlive: KeepAlive;
  readonly #channels: Readonly<Record<Channel, Pick<VoiceChannel | ListAgents, 'take'>>>;
  readonly #open: Readonly<Record<Channel, Set<WebSocket>>> = { voice: new Set(), list: new Set() };
  readonly #waiting = new Set<() => void>();
  #listener: SocketListener | undefined;

  constructor(parts: SocketServerParts) {
    const { settings, paths, clock, log } = parts;
    const refusals = new Refusals(log, clock, parts.onRefused);
    this.#parts = parts;
    this.#upgrades = new Upgrades({
      ...parts,
      paths: { voice: settings.pathPrefix + paths.voicePath, list: settings.pathPrefix + paths.listPath },
      refusals,
      maxMessageBytes: settings.maxMessageBytes,
      limitMs: settings.unverifiedTimeoutMs,
      closeLimitMs: settings.peerCloseMs,
      // On its own port a free descriptor was already checked, and an upgrade needs no second one.
      hasRoom: () => this.openSockets < settings.maxConnections && (this.#listener !== undefined || parts.mayTake?.() !== false),
      connections: () => this.#listener,
      onSocket: (accepted) => {
        this.#take(accepted);
      },
    });
    this.upgrade = this.#upgrades.upgrade;
    this.#keepAlive = new KeepAlive({ ...settings, clock });
    this.#channels = {
      voice: new VoiceChannel({ homes: SOLE_HOME, ...parts, refusals, toEnvelope: new ToEnvelope(settings) }),
      list: new ListAgents({ ...parts, refusals }),
    };
  }

  get openSockets(): number {
    return this.#open.voice.size + this.#open.list.size;
  }

  async listen(): Promise<Pick<SocketListener, 'address' | 'port'>> {
    const { settings, mayTake, clock, log } = this.#parts;
    this.#listener = await openHttpListener({ ...settings, mayTake, upgrades: this.#upgrades, clock, log });
    return this.#listener;
  }

  drain(isDraining?: boolean): void {
    this.#upgrades.drain(isDraining);
  }

  stopListening(): void {
    this.#listener?.stopListening();
  }

  async callsOver(limitMs: number): Promise<void> {
    await this.#until(() => this.#open.voice.size === 0, limitMs);
  }

  async close(limitMs: number): Promise<void> {
    const { clock, settings } = this.#parts;
    const deadlineMs = clock.monotonicMs() + limitMs;
    this.#upgrades.drain();
    this.#listener?.stopListening();
    this.#each('list', (socket) => {
      socket.close(CLOSE_CODE.goingAway);
    });
    await this.callsOver(Math.min(settings.peerCloseMs, limitMs / 2));
    this.#each('voice', (socket) => {
      socket.close(CLOSE_CODE.goingAway);
    });
    await this.#until(() => this.openSockets === 0, Math.max(0, deadlineMs - clock.monotonicMs()));
    this.#each('voice', terminate);
    this.#each('list', terminate);
    this.#upgrades.cut();
    this.#listener?.cut();
    await this.#listener?.close();
    // Whatever belongs to a socket, such as its timers, ends with the socket's `close` event, which comes a moment later.
    await this.#until(() => this.openSockets === 0, settings.peerCloseMs);
  }

  #take(accepted: AcceptedSocket): void {
    const { channel, socket } = accepted;
    const open = this.#open[channel];
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      for (const check of this.#waiting) check();
    });
    const end = this.#channels[channel].take(accepted);
    // The library closes the socket and names the broken rule.
    socket.on('error', (error) => {
      end(breachOf(error));
    });
    this.#keepAlive.watch(socket, () => {
      end(new AppError('turn_timeout', 'it answered no ping'));
    });
  }

  #each(channel: Channel, send: (socket: WebSocket) => void): void {
    for (const socket of [...this.#open[channel]]) send(socket);
  }

  async #until(isSo: () => boolean, limitMs: number): Promise<void> {
    let check: () => void = () => undefined;
    const so = new Promise<void>((resolve) => {
      check = () => {
        if (isSo()) resolve();
      };
      check();
    });
    this.#waiting.add(check);
    await waitAtMost(so, limitMs, this.#parts.clock);
    this.#waiting.delete(check);
  }
}

function terminate(socket: WebSocket): void {
  socket.terminate();
}
