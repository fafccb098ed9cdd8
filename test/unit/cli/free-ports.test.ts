// Ports for servers whose address others must know before they are started.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts, NAMED_PORTS } from '../../../src/cli/free-ports.ts';
import { freePorts as testPorts } from '../../support/free-port.ts';

/** Somebody else listens on it until the end of the test. */
async function taken(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  onTestFinished(async () => {
    server.close();
    await once(server, 'close');
  });
  await once(server, 'listening');
}

it('are all different, and none that the system gives to those who have asked for no number', async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  expect(ports.every((port) => port >= NAMED_PORTS.from && port < 32_768)).toBe(true);
});

it('are none that somebody listens on, and not looked for without end where none is free', async () => {
  const [only = 0] = await testPorts(1);
  await taken(only);
  await expect(freePorts(1, { from: only, count: 1 })).rejects.toThrow('hardly a port of this machine is free');
});
