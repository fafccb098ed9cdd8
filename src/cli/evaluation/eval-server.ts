// The server that `parley eval` starts without --target: the bots and settings of the project, reachable from this machine alone. Also the
// fake models of --fake-models.
import { createApp, type App } from '../../app/app.ts';
import { botsFolder } from '../../app/bot-folders.ts';
import { originOf } from '../../app/config/describe-settings.ts';
import { loadSettings } from '../../app/config/load-settings.ts';
import { serverLogger } from '../../app/development.ts';
import { loadBots } from '../../bot/loader.ts';
import { fakeModels, type FakeModels } from '../../fake-platform/models/start-models.ts';
import type { ModelScript } from '../../fake-platform/models/script.ts';
import { WatchedBots } from './watched-bots.ts';

/** Fake models whose script can be replaced without a change of their address. `close` must be called. */
export class SwitchedModels {
  #models: FakeModels;

  private constructor(models: FakeModels) {
    this.#models = models;
  }

  static async start(): Promise<SwitchedModels> {
    const models = new SwitchedModels(await fakeModels());
    // The bundled assistants read the address of their model from this variable.
    // oxlint-disable-next-line no-restricted-properties -- it is set here, not read
    process.env['MODEL_URL'] = models.url;
    return models;
  }

  get url(): string {
    return this.#models.url;
  }

  /** Replaces the script. @throws RangeError for an invalid script. */
  async play(script: ModelScript): Promise<void> {
    const port = Number(new URL(this.url).port);
    await this.#models.close();
    this.#models = await fakeModels(script, { port });
  }

  close(): Promise<void> {
    return this.#models.close();
  }
}

/** A running server and its observed bots. */
export interface EvalServer {
  readonly target: string;
  readonly bots: WatchedBots;
  close(): Promise<void>;
}

/** No access from other machines, no administration, no shared store; prompt texts, because the caller's model needs them. */
const OWN_FLAGS = [
  ...['--grpc.host=127.0.0.1', '--grpc.port=0', '--ops.host=127.0.0.1', '--ops.port=0', '--websocket.enabled=false'],
  ...['--tls.mode=off', '--auth.enabled=false', '--admin.enabled=false', '--store.kind=memory'],
  ...['--media.reveal_prompt_text=true', '--bots.watch=false', '--shutdown.grace_ms=1000', '--shutdown.notice_ms=0'],
  // Callers and models are in this process, too: a busy machine may make a call slow, but not refuse it.
  '--overload.max_loop_delay_ms=0',
];

/** Starts the server. @param argv - flags of settings. @throws AppError of the settings, the bots or the start. */
export async function startEvalServer(argv: readonly string[], fakes: SwitchedModels | undefined): Promise<EvalServer> {
  const heardBy =
    fakes === undefined ? [] : ['--recognizer.engine=http', `--recognizer.http.url=${fakes.url}`, '--recognizer.http.model=fake'];
  const loaded = loadSettings({ argv: ['--log.level=warn', ...argv, ...heardBy, ...OWN_FLAGS] });
  const { settings } = loaded;
  const bots = new WatchedBots(await loadBots(botsFolder(settings.bots)));
  const app: App = await createApp({ settings, originOf: originOf(loaded), bots: bots.bots, log: serverLogger(settings) });
  await app.warmed;
  return { target: `grpc://${app.ready.address}`, bots, close: () => app.close() };
}
