// Everything behind `parley dev`: the server, the voice and the fake models of the caller, and the page with its softphone.
import { AppError } from '../../base/errors.ts';
import { consoleFile } from '../../base/console-files.ts';
import type { Clock } from '../../base/clock.ts';
import type { CallerVoice } from '../../fake-platform/cli/call-access.ts';
import { loadProfile } from '../../fake-platform/platform/profile.ts';
import { startSoftphone, type PageFile } from '../../fake-platform/softphone/softphone.ts';
import { startDevServer, type DevServer, type DevServerOptions } from './dev-server.ts';
import { ShownCalls } from './shown-calls.ts';

export interface DevOptions extends Omit<DevServerOptions, 'observed'> {
  /** Port of the page; 0: any free port. */
  readonly port: number;
  /** Closed by whoever started `parley dev`, after the page. */
  readonly voice: CallerVoice;
  readonly clock: Clock;
  /** Maps the address of the server to the one that calls go to. Default: the same address. */
  readonly through?: (target: string) => Promise<string>;
}

/** A running server with its page. `close` must be called. */
export interface Dev {
  /** Address of the page. */
  readonly page: string;
  readonly ready: DevServer['ready'];
  close(): Promise<void>;
}

/** The organization of the calls; nobody checks it. */
const ORGANIZATION = 'laptop';

/** Starts everything. @throws AppError of the settings, the bots or the start; nothing is left open then. */
export async function startDev({
  port,
  voice,
  clock,
  through = (target) => Promise.resolve(target),
  ...options
}: DevOptions): Promise<Dev> {
  const shown = new ShownCalls(clock);
  const server = await startDevServer({ ...options, observed: (settings) => shown.observers(settings) });
  const { ready, modelsUrl } = server;
  try {
    const { websocket } = ready;
    if (websocket === undefined) throw new AppError('internal', 'the server takes no calls over WebSocket');
    const targets = { grpc: await through(`grpc://${ready.address}`), websocket: await through(`ws://${websocket.address}`) };
    const softphone = await startSoftphone({
      ...{ port, voice, modelsUrl, clock, file: pageFile },
      checkBots: async () => {
        const { why } = await server.checkBots();
        return why === undefined ? undefined : `The changed bots are not used, the ones from before answer: ${why}`;
      },
      access: (transport) => ({ target: targets[transport], profile: loadProfile('fake'), organizationId: ORGANIZATION }),
      watch: (conversationId, messages) => shown.watch(conversationId, messages),
      sound: (conversationId, side) => shown.sound(conversationId, side),
    });
    return {
      page: softphone.url,
      ready,
      close: async () => {
        await softphone.close();
        await server.close();
      },
    };
  } catch (thrown) {
    await server.close();
    throw thrown;
  }
}

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

async function pageFile(path: string): Promise<PageFile | undefined> {
  const name = path === '/' ? 'softphone.html' : path.slice(1);
  const body = await consoleFile(name);
  return body === undefined ? undefined : { body, type: `${TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain'}; charset=utf-8` };
}
