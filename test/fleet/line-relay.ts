// A TCP relay that faults are done to: it turns to another port, answers nobody, or passes everything on late. Knows no
// protocol.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A running one. `close` must be called. */
export class LineRelay {
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #server: Server;
  #farPort: number;
  #delayMs = 0;
  readonly #host: string;
  readonly port: number;

  private constructor(server: Server, host: string, port: number, farPort: number) {
    this.#server = server;
    this.#host = host;
    this.port = port;
    this.#farPort = farPort;
    this.#serve(server);
  }

  /** @param farPort - of 127.0.0.1, where connections go. @param near - where it listens; default a free port of 127.0.0.1. */
  static async start(
    farPort: number,
    near: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
  ): Promise<LineRelay> {
    const server = createServer();
    await listening(server, near.host, near.port);
    // A server that listens on TCP has an address of this shape.
    return new LineRelay(server, near.host, (server.address() as AddressInfo).port, farPort);
  }

  /** Connections from now on go to this port; those that stand are cut. */
  turnTo(farPort: number): void {
    this.#farPort = farPort;
    this.cut();
  }

  /** How long each piece takes from now on, in each direction, ms. */
  slowTo(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Resets all connections that stand. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Nobody listens any more until `up`. */
  async down(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  async up(): Promise<void> {
    this.#server = createServer();
    this.#serve(this.#server);
    await listening(this.#server, this.#host, this.port);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#server.listening) await this.down();
  }

  #serve(server: Server): void {
    server.on('connection', (near) => {
      const far = connect(this.#farPort, '127.0.0.1');
      this.#pass(near, far);
      this.#pass(far, near);
    });
  }

  #pass(from: Socket, to: Socket): void {
    let lastDueMs = 0;
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    from.on('data', (bytes: Buffer) => {
      const nowMs = performance.now();
      // Nothing overtakes what came before.
      lastDueMs = Math.max(lastDueMs, nowMs + this.#delayMs);
      if (lastDueMs <= nowMs) {
        to.write(bytes);
        return;
      }
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        to.write(bytes);
      }, lastDueMs - nowMs);
      this.#timers.add(timer);
    });
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
