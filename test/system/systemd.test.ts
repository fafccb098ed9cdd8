// A server that systemd started with Type=notify, with a real datagram socket in its place: readiness, drains, the watchdog, the stop.
import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { controlGroup } from '../../src/cli/control.ts';
import { SystemdNotifier } from '../../src/cli/serve/systemd-notifier.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer } from '../../src/fake-platform/platform/issuer.ts';
import { runCommand } from '../support/admin-command.ts';
import { DEBIAN_PYTHON, requireDebian } from '../support/debian.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { dataSource, serverFlags } from '../support/server-flags.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from '../support/voice.ts';

const RECEIVE = `
import socket, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
print('listening', flush=True)
while True:
    print(heard.recv(4096).decode(), flush=True)
`;

/** In place of systemd. @returns what it has heard. */
function listen(folder: string): () => readonly string[] {
  let text = '';
  const receiver = spawn(DEBIAN_PYTHON, ['-c', RECEIVE, `${folder}/notify`], { stdio: ['ignore', 'pipe', 'inherit'] });
  receiver.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  onTestFinished(() => {
    receiver.kill();
  });
  return () => text.split('\n').filter((line) => line !== '' && line !== 'BARRIER=1');
}

/** A server, and what it notifies. */
function start(...flags: readonly string[]): {
  readonly running: ServeProcess;
  readonly folder: string;
  readonly heard: () => readonly string[];
} {
  const folder = temporaryFolder();
  const heard = listen(folder);
  const open = ['--grpc.host=127.0.0.1', '--grpc.port=0', '--ops.port=0', '--tls.mode=off', '--platform.profile=fake'];
  const argv = [...open, `--control.socket=${folder}/control.sock`, '--synthesizer.engine=none', ...flags];
  const running = new ServeProcess(argv, undefined, ['env', `NOTIFY_SOCKET=${folder}/notify`, 'WATCHDOG_USEC=4000000']);
  onTestFinished(() => running.kill());
  return { running, folder, heard };
}

describe('a server under systemd', () => {
  requireDebian({ commands: ['systemd-notify'], files: [DEBIAN_PYTHON], packages: ['systemd', 'python3-protobuf'] });

  it('says when it is ready, that it is alive, when it is drained, and when it stops', async () => {
    const { running, folder, heard } = start('--auth.enabled=false');
    await until('it is ready', () => heard().includes('READY=1'));
    expect(running.stdout).toContain('ready');
    expect(heard()).toContain('STATUS=ready');
    const control = (name: string) => runCommand(controlGroup(), [name, `--socket=${folder}/control.sock`]);
    await control('drain');
    await until('the drain is told', () => heard().includes('STATUS=not ready: drained'));
    const alive = heard().filter((word) => word === 'WATCHDOG=1').length;
    await until('it is still alive', () => heard().filter((word) => word === 'WATCHDOG=1').length >= alive + 2);
    running.signal('SIGTERM');
    expect(await running.ended()).toMatchObject({ code: 0 });
    await until('the stop is told', () => heard().includes('STOPPING=1'));
    expect(heard().filter((word) => word === 'READY=1')).toHaveLength(1);
  });

  it('asks for time as long as it is alive and not ready, and says why', async () => {
    const issuer = await startIssuer({ profile: loadProfile('fake') });
    await issuer.close();
    const { running, heard } = start(...serverFlags(issuer, undefined, [dataSource(issuer)]));
    await until('it says why it is not ready', () => heard().includes('STATUS=not ready: keys_unavailable'));
    const both = ['STATUS=not ready: keys_unavailable', 'EXTEND_TIMEOUT_USEC=30000000'];
    await until('it says why, and asks for time', () => both.every((word) => heard().includes(word)));
    expect(heard()).not.toContain('READY=1');
    running.signal('SIGTERM');
    await running.ended();
  });

  it('says all of it again some seconds after systemd has not heard it', async () => {
    const [clock, folder] = [new FakeClock(), temporaryFolder()];
    const log: string[] = [];
    const logger = createLogger({ level: 'error', destination: { write: (line) => log.push(line) } });
    const notifier = new SystemdNotifier({ socket: `${folder}/notify`, watchdogMs: 30_000, clock, log: logger });
    notifier.follow({ current: { ready: true, reasons: [] } });
    await until('it fails', () => log.some((line) => line.includes('notify_failed')));
    const heard = listen(folder);
    await until('systemd listens', () => heard().includes('listening'));
    clock.advance(4000);
    notifier.follow({ current: { ready: false, reasons: ['drained'] } });
    notifier.follow({ current: { ready: true, reasons: [] } });
    clock.advance(1000);
    await until('it is alive', () => heard().includes('WATCHDOG=1'));
    expect(heard()).toEqual(['listening', 'STATUS=ready', 'READY=1', 'WATCHDOG=1']);
    clock.advance(7000);
    await until('it is alive still', () => heard().length > 4);
    expect(heard().slice(4)).toEqual(['WATCHDOG=1']);
  });
});
