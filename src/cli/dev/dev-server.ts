// The server behind `parley dev`: the bots and settings of the project, reachable from this machine alone. Fake models stand in for models
// that the settings leave out.
import { createApp, type App, type AppOptions } from '../../app/app.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { loadSettings } from '../../app/config/load-settings.ts';
import type { Settings } from '../../app/config/settings.ts';
import { APPOINTMENTS_SCRIPT, type ModelScript } from '../../fake-platform/models/script.ts';
import { fakeModels } from '../../fake-platform/models/start-models.ts';

/** Flags that a flag of the user replaces. */
const DEFAULTS = ['--websocket.port=0'];
/** No access from other machines, no administration, no shared store, and no wait at the end; prompt texts, because the page shows them. */
const OWN_FLAGS = [
  ...['--grpc.host=127.0.0.1', '--ops.host=127.0.0.1', '--tls.mode=off', '--auth.enabled=false'],
  ...['--websocket.enabled=true', '--websocket.listen=own', '--websocket.host=127.0.0.1', '--websocket.drain_ms=0'],
  ...['--admin.enabled=false', '--store.kind=memory', '--bots.watch=true', '--media.reveal_prompt_text=true'],
  ...['--shutdown.grace_ms=1000', '--shutdown.notice_ms=0'],
  // A compiler on the same machine delays the server; the developer's calls are accepted all the same.
  '--overload.max_loop_delay_ms=0',
];

export interface DevServerOptions {
  /** Flags of settings. */
  readonly argv: readonly string[];
  /** Address of fake models that already run. Undefined: fake models are started. */
  readonly modelsUrl: string | undefined;
  /** What the started fake models recognize and answer. Default: what the bundled assistants need. */
  readonly modelScript: ModelScript | undefined;
  /** Makes the log, observer and recorder for the calls of a server with these settings. */
  readonly observed: (settings: Settings) => Pick<AppOptions, 'log' | 'observer' | 'recorder'>;
}

/** A running server. `close` must be called. */
export interface DevServer {
  readonly settings: Settings;
  readonly ready: App['ready'];
  /** Set when fake models recognize speech: their address. They understand only words that are announced to them. */
  readonly modelsUrl: string | undefined;
  readonly checkBots: App['checkBots'];
  close(): Promise<void>;
}

/** Starts the server. @throws AppError of the settings, the bots or the start; nothing is left open then. */
export async function startDevServer({ argv, modelsUrl, modelScript, observed }: DevServerOptions): Promise<DevServer> {
  const models = modelsUrl === undefined ? await fakeModels(modelScript ?? APPOINTMENTS_SCRIPT) : undefined;
  const url = modelsUrl ?? models?.url ?? '';
  const forget = leadBundledAssistants(url);
  const closeModels = async (): Promise<void> => {
    forget();
    await models?.close();
  };
  try {
    const app = await startApp(argv, url, observed);
    const { engine, http } = app.settings.recognizer;
    const close = async (): Promise<void> => {
      await app.close();
      await closeModels();
    };
    return { ...app, modelsUrl: engine === 'http' && http.url === url ? url : undefined, close };
  } catch (thrown) {
    await closeModels();
    throw thrown;
  }
}

/** Sets the variable with the model's address for bundled assistants, unless the user has set it. @returns a function that unsets it. */
function leadBundledAssistants(url: string): () => void {
  // oxlint-disable-next-line no-restricted-properties -- it is for the bots, and not read for the server
  const { env } = process;
  if (env['MODEL_URL'] !== undefined) return () => undefined;
  env['MODEL_URL'] = url;
  return () => {
    delete env['MODEL_URL'];
  };
}

async function startApp(argv: readonly string[], modelsUrl: string, observed: DevServerOptions['observed']) {
  const given = [...DEFAULTS, ...argv, ...OWN_FLAGS];
  const hasRecognizer = loadSettings({ argv: given }).settings.recognizer.engine !== 'none';
  const heardBy = hasRecognizer ? [] : ['--recognizer.engine=http', `--recognizer.http.url=${modelsUrl}`, '--recognizer.http.model=fake'];
  const loaded = loadSettings({ argv: [...given, ...heardBy] });
  const { settings, changing } = loaded;
  const app = await createApp({ settings, changing, originOf: originOf(loaded), ...observed(settings) });
  return { settings, ready: app.ready, checkBots: app.checkBots, close: () => app.close() };
}
