// The composition root: creates every room from the settings and connects them. A started app is open and takes calls. When it closes, it
// first finishes open turns and then closes everything in reverse order.
import { randomUUID } from 'node:crypto';
import { pause, waitAtMost } from '../base/abort.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { Descriptors } from '../base/descriptors.ts';
import { Lifecycle } from '../base/lifecycle.ts';
import { packageVersion } from '../base/package-root.ts';
import type { Logger } from '../base/log.ts';
import { WatchedFiles, type Checked } from '../base/watched-files.ts';
import type { Bot } from '../bot/bot.ts';
import type { Catalog, CatalogSource } from '../bot/catalog.ts';
import { loadBots } from '../bot/loader.ts';
import { loadProfile } from '../contract/profile.ts';
import type { ControlSocket } from '../ops/control-socket.ts';
import type { OpsServer } from '../ops/http-server.ts';
import { NOT_READY_REASONS, Readiness } from '../ops/readiness.ts';
import { Admission } from '../session/admission.ts';
import type { Recorder, SessionObserver } from '../session/ports.ts';
import { Sessions } from '../session/sessions.ts';
import { Listener } from '../speech/listener.ts';
import { answerParts } from '../telemetry/answer-parts.ts';
import { createCallLog } from '../telemetry/call-log.ts';
import { CallTimelines } from '../telemetry/call-timeline.ts';
import { LoadGauge } from '../telemetry/load-gauge.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { combineObservers } from '../telemetry/observers.ts';
import { OrganizationReport } from '../telemetry/organization-report.ts';
import { Traffic } from '../telemetry/traffic.ts';
import type { MediaServer } from '../transport/grpc/server.ts';
import type { AuthorizationHook } from '../admin/webhooks/authorization-result.ts';
import { botsFolder } from './bot-folders.ts';
import { followConsole, followSealKeys } from './changing-secrets.ts';
import { Answering } from './console/answering.ts';
import { consoleSource } from './console/console-source.ts';
import type { Answer, Question } from './console/questions.ts';
import type { ChangingSettings } from './config/changing-settings.ts';
import type { Settings } from './config/settings.ts';
import { openControl } from './control/open-control.ts';
import type { OwnProcess } from './control/own-process.ts';
import { DescriptorWatch, warnOfFewDescriptors } from './descriptor-watch.ts';
import { isDevelopment, sayIfDevelopment, serverLogger } from './development.ts';
import { followBots, openCatalog, type OriginText } from './open-catalog.ts';
import { openRecordedCalls, openRecorder } from './recordings.ts';
import { readySummary, type ReadySummary } from './ready-summary.ts';
import { admissionLimits, engineSettings } from './room-settings.ts';
import { openHomes, type OpenedHomes } from './homes.ts';
import { Intake } from './intake.ts';
import { startOperations } from './operations.ts';
import { processFields } from './process-parts.ts';
import { openServers } from './servers.ts';
import { openSharedStore } from './shared-store.ts';
import { loadSignalEngines } from './signal-engines.ts';
import { openTraces } from './traces.ts';
import { openTrusted } from './trusted.ts';
import { Voices } from './voices.ts';

export interface App {
  readonly ready: ReadySummary;
  /** The number of sessions that have not ended. */
  readonly openSessions: () => number;
  readonly openTurns: () => number;
  /** The parts that a primary process needs for the pages of its operations server. */
  readonly shown: { readonly readiness: Pick<Readiness, 'current'>; readonly answer: (question: Question) => Promise<Answer> };
  /** Resolves when the static prompts have been synthesized. Only tests and demos wait for it. */
  readonly warmed: Promise<void>;
  /** Reloads changed bots at once, if bots are watched. Never rejects. */
  readonly checkBots: () => Promise<Checked>;
  /** Stops listening for new call connections, for a draining worker process. Open connections stay. */
  stopListening(): void;
  /** Refuses new calls, finishes open turns within the grace time, then closes everything. Idempotent; never throws. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly settings: Settings;
  /** Describes the origin of a setting, for messages. Default: a hint how to find it. */
  readonly originOf?: OriginText;
  /** The settings to read again when their files change. Default: none. */
  readonly changing?: ChangingSettings | undefined;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Set for a process that operators control; its log is used. Default: no control. */
  readonly own?: OwnProcess | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
  /** Replaces the bots in `bots.folder`, which is then not read. */
  readonly bots?: readonly Bot[] | undefined;
  /** Observes calls, in addition to log and metrics. */
  readonly observer?: SessionObserver | undefined;
  /** Records calls in place of the recorder of the settings. */
  readonly recorder?: Recorder | undefined;
  /** Called when an organization authorizes the service app or withdraws its authorization, on the server that manages it. */
  readonly onAuthorization?: AuthorizationHook | undefined;
  /** Whether this is one of several worker processes, which open no operations server. Default false. */
  readonly isWorker?: boolean;
}

/** Limit for one closing step, ms, in addition to the grace time for turns. */
const CLOSE_STEP_MS = 5000;

/**
 * Starts the server.
 *
 * @throws AppError `profile_invalid`, `bot_invalid`, `config_invalid`, `certificate_invalid`, `listen_failed`, `shutting_down` when
 * `signal` aborts, or the error of the administration. Closes everything that was opened before the error.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { settings, clock = systemClock, signal = new AbortController().signal } = options;
  const { originOf = () => '`parley config` shows where' } = options;
  const { instanceId = randomUUID(), log = (options.log ?? serverLogger(settings)).child(processFields(instanceId)) } = options.own ?? {};
  const lifecycle = new Lifecycle({ clock, log, limitMs: settings.shutdown.graceMs + CLOSE_STEP_MS });
  try {
    return await open({ ...options, instanceId, originOf, clock, log, signal, lifecycle });
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

/** The options with their defaults, and the list of parts to close. */
type Opening = AppOptions &
  Required<Pick<AppOptions, 'originOf' | 'clock' | 'log' | 'signal'>> & {
    /** A new id for each start of the process. */
    readonly instanceId: string;
    readonly lifecycle: Lifecycle;
  };

// Opens everything; the lifecycle closes it in reverse order.
async function open(opening: Opening): Promise<App> {
  const { settings, instanceId, own, originOf, changing, clock, log, lifecycle, signal, isWorker = false, onAuthorization } = opening;
  const base = { clock, log, lifecycle };
  const profile = loadProfile(settings.platform.profile);
  const [bots, engines] = await Promise.all([opening.bots ?? loadBots(botsFolder(settings.bots)), loadSignalEngines()]);
  const openBots = (loaded: readonly Bot[]): Catalog => openCatalog(loaded, settings.bots, originOf);
  const first = openBots(bots);
  const load = new LoadGauge({ clock });
  lifecycle.opened('load gauge', () => {
    load.close();
  });
  const limits = admissionLimits(settings);
  const admission = new Admission({ limits, load, clock });
  const readiness = new Readiness();
  const metrics = createMetrics({
    ...{ knownBots: first.bots.map(({ id }) => id), clock, load, maxSessions: settings.sessions.max },
    organizations: { limits, admission },
    self: { ...processFields(instanceId), readiness, reasons: NOT_READY_REASONS },
  });
  const traces = await openTraces(settings, { instanceId, ...base });
  const recorder = openRecorder(settings, { observer: metrics.recordings, ...base });
  const timelines = new CallTimelines({ clock, maxCalls: settings.telemetry.timelineCalls, onFact: recorder?.fact });
  const traffic = new Traffic(clock);
  const organizations = new OrganizationReport(clock, admission);
  // Registered early and so closed late: health checks and operators get answers until the end.
  const operations: { server?: OpsServer; control?: ControlSocket | undefined } = {};
  lifecycle.opened('operations server', () => operations.server?.close());
  lifecycle.opened('control socket', async () => {
    await operations.control?.close();
    own?.control.close();
  });

  const voices = new Voices(settings, { engines, metrics, ...base });
  const isWatching = settings.bots.watch && opening.bots === undefined;
  const watchedBots = isWatching ? await followBots(first, openBots, settings, { metrics, voices, ...base }) : undefined;
  const catalog: CatalogSource = watchedBots ?? { current: first };

  const shared = await openSharedStore(settings, { metrics: metrics.store, ...base });
  const homes = await openHomes(settings, { instanceId, shared, metrics, admission, traces, ...base });
  const callLog = createCallLog({ log, clock, isDevelopment: isDevelopment(settings) });
  const counters = [metrics.sessions, metrics.organizations, traffic, organizations];
  const watchers = [...counters, callLog, timelines, traces, opening.observer].filter((each) => each !== undefined);
  const parts = answerParts(clock, (...told) => {
    observer.answerTimed(...told);
  });
  const observer = combineObservers([parts, ...watchers], log);
  const sessions = new Sessions(
    {
      ...{ admission, clock, log, voice: voices.voice, recognizer: voices.recognizer, snapshots: homes.snapshots },
      settings: engineSettings(settings),
      recorder: opening.recorder ?? recorder,
      observer,
      createListener: (options) => new Listener({ engines, patience: settings.speech, ...options }),
    },
    catalog,
  );
  // Registered twice: here for a start that fails below, and again below, so that turns end before their sockets are closed.
  lifecycle.opened('sessions', async () => {
    await sessions.close(0);
  });

  const files = new WatchedFiles({ clock, log, onChecked: metrics.files.checked });
  lifecycle.opened('watched files', () => files.close());
  if (changing !== undefined && shared !== undefined) followSealKeys(files, 'store_keys', changing.storeKeys, shared.seal);
  const trusted = await openTrusted(settings, { profile, files, readiness, changing, onAuthorization, metrics, signal, ...base });
  if (signal.aborted) throw new AppError('shutting_down', 'the start was given up');
  const descriptors = new Descriptors();
  const descriptorWatch = new DescriptorWatch({ descriptors, readiness, clock, log });
  lifecycle.opened('descriptor watch', () => {
    descriptorWatch.close();
  });

  const self = { id: instanceId, version: packageVersion(), startedAtMs: clock.nowMs(), maxCalls: settings.sessions.max };
  const place = { address: '' };
  const shown = { metrics, calls: timelines, refused: metrics.refused };
  const answering = new Answering({
    ...{ ...shown, traffic, organizations, clock, askOthers: (question) => homes.askOthers(question) },
    server: () => {
      const { ready, reasons } = readiness.current;
      return { ...self, ...place, isReady: ready, reasons, openCalls: sessions.size, openTurns: sessions.openTurns, ...load.reading() };
    },
  });
  // Before joining, because other servers may then send calls here.
  if (own?.startsDrained === true) homes.drain(true);
  await homes.join(sessions, (question) => answering.answerText(question));
  const served = { sessions, homes: homes.homes, peers: homes.peers, catalog, admission, mayTake: descriptorWatch.mayTake };
  const { tls, verifier } = trusted;
  const servers = await openServers(settings, { ...served, profile, tls, verifier, metrics, ...base });
  const { media, sockets } = servers;
  const intake = new Intake(readiness, [...(sockets === undefined ? [] : [sockets.server]), homes, sessions]);
  if (own?.startsDrained === true) intake.setDrained(true);
  place.address = media.address;
  lifecycle.opened('open turns', () => turnsOver(settings.shutdown.graceMs, { sessions, homes, metrics, log }));

  // Loading the HTTP framework takes longer than everything above, and calls need not wait for it.
  if (!isWorker) {
    const recorded = openRecordedCalls(settings, base);
    lifecycle.opened('recorded calls', () => recorded?.close());
    const console = consoleSource({ ask: (question) => answering.everywhere(question), recorded, clock });
    const source = { ...metrics, openMetrics: traces && ((text: string) => traces.exemplars.openMetrics(text)) };
    operations.server = await startOperations(settings, { shown: { ...shown, metrics: source, readiness, console }, sockets, clock, log });
    if (changing !== undefined) followConsole(files, changing, operations.server);
    operations.control = await openControl(settings, own?.control, base);
  }
  // A healthy server should be ready when it prints its ready line, so wait for the first attempt to fetch keys.
  if (trusted.keysAnswered !== undefined) await waitAtMost(trusted.keysAnswered, settings.auth.keySet.timeoutMs, clock, signal);
  // Registered last, because a failing start must not wait for connections.
  if (sockets !== undefined) {
    const { drainMs } = settings.websocket;
    lifecycle.opened('calls over WebSocket', () => sockets.server.callsOver(drainMs), drainMs + CLOSE_STEP_MS);
  }
  if (shared !== undefined) {
    // Other servers continue the calls. The load balancer must stop routing to this server first, or the calls would come back.
    const { noticeMs } = settings.shutdown;
    lifecycle.opened('connections', () => goAwayAfter(noticeMs, media, clock), noticeMs + CLOSE_STEP_MS);
  }
  readiness.onChange((isReady) => {
    media.setServing(isReady);
  });
  lifecycle.opened('readiness', () => {
    intake.stop();
    trusted.administration?.rest();
  });
  own?.control.serves({
    readiness,
    open: () => ({ calls: sessions.size, turns: sessions.openTurns }),
    setDrained: (isDrained) => {
      intake.setDrained(isDrained);
    },
    knows: (conversationId) => sessions.knows(conversationId) || timelines.find(conversationId) !== undefined,
    trace: traces && ((conversationId) => traces.traceCall(conversationId)),
    checkNow: async () => {
      const [read, bots] = await Promise.all([files.checkNow(), watchedBots?.checkNow()]);
      return bots === undefined ? read : [...read, { what: 'bots', ...bots }];
    },
  });
  warnOfFewDescriptors(descriptors, settings, log);
  sayIfDevelopment(settings, log);
  readiness.started();
  lifecycle.opened('prompt warm-up', () => {
    voices.stopWarming();
  });
  return {
    ready: readySummary(settings, { ...servers, operations: operations.server, first, voices, trusted }),
    openSessions: () => sessions.size,
    openTurns: () => sessions.openTurns,
    shown: { readiness, answer: (question) => answering.answer(question) },
    warmed: voices.warmAll(first),
    checkBots: () => watchedBots?.checkNow() ?? Promise.resolve({ verdict: 'unchanged' }),
    stopListening: () => {
      media.stopListening();
      sockets?.server.stopListening();
    },
    close: () => lifecycle.close(),
  };
}

interface OpenTurns {
  readonly sessions: Sessions;
  readonly homes: OpenedHomes;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Waits until all turns have ended, those answered here and the forwarded ones. */
async function turnsOver(graceMs: number, { sessions, homes, metrics, log }: OpenTurns): Promise<void> {
  const [cut] = await Promise.all([sessions.close(graceMs), homes.peers?.relays.over(graceMs)]);
  metrics.stopped(cut);
  if (cut.turns > 0) log.warn({ cutTurns: cut.turns }, 'the grace time was over before every turn was finished');
  if (cut.calls > 0) log.warn({ cutCalls: cut.calls }, 'calls ended without a word: none of their streams came any more');
}

/** Stops accepting connections after the server has been not ready for `noticeMs`. */
async function goAwayAfter(noticeMs: number, server: MediaServer, clock: Clock): Promise<void> {
  await pause(noticeMs, clock);
  server.goAway();
}
