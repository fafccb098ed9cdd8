// Loaded into a server that is measured (`node --expose-gc --import …/probe.mjs`): answers questions about its process on
// the channel to the process that started it. Costs nothing while nobody asks; knows neither calls nor Parley.
import { Session } from 'node:inspector';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** @typedef {{ id: number, question: string }} Question */

/** @type {Session | undefined} */
let profiler;

/** ms between two samples of the delay, which the histogram contains. */
const SAMPLE_MS = 20;
/** @type {import('node:perf_hooks').IntervalHistogram | undefined} */
let delays;

/** @type {Record<string, () => unknown>} */
const ANSWERS = {
  cpu: () => ({ ...process.cpuUsage(), atMs: performance.now() }),
  // Twice: what the first collection finalizes, the second one frees.
  memory: () => {
    collect();
    collect();
    return process.memoryUsage();
  },
  rss: () => process.memoryUsage.rss(),
  loop_delay: () => {
    delays ??= started();
    const ms = delays.count === 0 ? 0 : delays.percentile(99) / 1e6 - SAMPLE_MS;
    delays.reset();
    return Math.max(0, ms);
  },
  resources: () => process.getActiveResourcesInfo(),
  start_profile: () =>
    new Promise((resolve, reject) => {
      const session = new Session();
      profiler = session;
      session.connect();
      session.post('Profiler.enable');
      session.post('Profiler.setSamplingInterval', { interval: 200 });
      session.post('Profiler.start', (error) => {
        if (error === null) resolve(true);
        else reject(error);
      });
    }),
  stop_profile: () =>
    new Promise((resolve, reject) => {
      profiler?.post('Profiler.stop', (error, result) => {
        profiler?.disconnect();
        if (error === null) resolve(result.profile);
        else reject(error);
      });
    }),
};

function started() {
  const histogram = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  histogram.enable();
  return histogram;
}

/** There with `--expose-gc`. */
function collect() {
  globalThis.gc?.();
}

process.on('message', (/** @type {Question} */ { id, question }) => {
  void Promise.resolve(ANSWERS[question]?.()).then((answer) => process.send?.({ id, answer }));
});
// The measured server ends by itself, and never outlives the one who measures.
process.channel?.unref();
process.once('disconnect', () => process.exit(1));
