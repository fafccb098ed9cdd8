// Starts a worker thread, from the compiled program or from the sources.
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * A thread that runs `file` without this process's environment and flags.
 *
 * @param data - the thread's `workerData`.
 * @throws Error when the system cannot start a thread.
 */
export function startWorker(file: URL, data: unknown): Worker {
  const options: WorkerOptions = { workerData: data, env: {}, execArgv: [] };
  if (!file.pathname.endsWith('.ts')) return new Worker(file, options);
  // Threads inherit no TypeScript loader (tsx 4.23 on Node 20.20, or the test runner's), so from sources the thread
  // registers tsx itself. Can go when the oldest supported Node runs TypeScript.
  const loader = import.meta.resolve('tsx/esm/api');
  const boot = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(file.href)}); });`;
  return new Worker(boot, { ...options, eval: true });
}
