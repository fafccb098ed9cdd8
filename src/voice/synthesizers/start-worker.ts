// Starts a worker thread of ours, from the compiled program and from its sources alike.
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * A thread that runs `file` and sees nothing of this process's environment and flags.
 *
 * @param data - what the thread finds as its `workerData`.
 * @throws Error when the system has no room for a thread.
 */
export function startWorker(file: URL, data: unknown): Worker {
  const options: WorkerOptions = { workerData: data, env: {}, execArgv: [] };
  if (!file.pathname.endsWith('.ts')) return new Worker(file, options);
  // Threads inherit no loader of TypeScript (tsx 4.23 on Node 20.20, and no test runner's), so from sources the thread
  // begins with the development tools' loader. Can go when the oldest supported Node reads TypeScript by itself.
  const loader = import.meta.resolve('tsx/esm/api');
  const boot = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(file.href)}); });`;
  return new Worker(boot, { ...options, eval: true });
}
