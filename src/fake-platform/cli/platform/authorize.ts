// `parley platform authorize` and `deauthorize`: act as an organization's administrator who decides about the app, and show
// the reaction of the server.
import { Command } from 'commander';
import { abortAfter, pause, type AbortReason } from '../../../base/abort.ts';
import { systemClock } from '../../../base/clock.ts';
import type { ShownDataSource } from '../../platform/control-wire.ts';
import { processSurroundings } from '../../../base/terminal/surroundings.ts';
import { EXIT } from '../../../base/terminal/failure.ts';
import { wholeNumberFrom } from '../../../base/terminal/option-values.ts';
import { controlCommand, controlWork, type ControlWork } from './control-command.ts';

const EXAMPLE_ORGANIZATION = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';
/** Time in which the server must register its data source, seconds: by default, and at most. */
const WAIT_S = 10;
const MAX_WAIT_S = 600;
const POLL_MS = 100;
const INTERRUPTED: AbortReason = 'shutdown';

/** The command; exit code 1 when a webhook was notified but no data source appeared in time. */
export function authorizeCommand(): Command {
  const command = new Command('authorize')
    .description('let an organization authorize the service app, and wait until the server has registered a data source for it')
    .argument('<organization>', 'its id: a UUID, made up or not; a second time ends the first authorization')
    .option('--wait-s <seconds>', 'how long to wait; 0 does not', wholeNumberFrom(0, MAX_WAIT_S), WAIT_S);
  return controlCommand(command, `authorize ${EXAMPLE_ORGANIZATION}`).action(
    async (organization: string, { waitS }: { readonly waitS: number }) => {
      const { ask, show } = controlWork(command);
      const before = (await ask('status', {})).dataSources;
      const { organizationId, listeners } = await ask('authorize', { organizationId: organization });
      const isWaiting = listeners > 0 && waitS > 0;
      const end = isWaiting ? await registered(ask, organizationId, before, waitS * 1000) : undefined;
      const dataSource = typeof end === 'object' ? end : null;
      const done = `organization ${organizationId} has authorized the app; ${notifiedText(listeners)}`;
      show({ organizationId, listeners, dataSource }, end === undefined ? done : `${done}\n${endText(end, waitS)}`);
      if (end === 'late') process.exitCode = EXIT.failed;
      if (end === 'interrupted') process.exitCode = EXIT.interrupted;
    },
  );
}

export function deauthorizeCommand(): Command {
  const command = new Command('deauthorize')
    .description('let an organization take that back; its tokens end, and webhooks are notified')
    .argument('<organization>', 'its id');
  return controlCommand(command, `deauthorize ${EXAMPLE_ORGANIZATION}`).action(async (organizationId: string) => {
    const { ask, show } = controlWork(command);
    const answer = await ask('deauthorize', { organizationId });
    show(answer, `organization ${answer.organizationId} has taken its authorization back; ${notifiedText(answer.listeners)}`);
  });
}

/** The new or changed data source of the organization, or why the wait ended without one. */
async function registered(
  ask: ControlWork['ask'],
  organizationId: string,
  before: readonly ShownDataSource[],
  limitMs: number,
): Promise<ShownDataSource | 'late' | 'interrupted'> {
  const isAsBefore = ({ id, updatedAt }: ShownDataSource): boolean => before.some((one) => one.id === id && one.updatedAt === updatedAt);
  const whole = abortAfter(limitMs, systemClock);
  // Keeps the process alive between two polls, when nothing else does.
  const forget = processSurroundings().onInterrupt(() => whole.abort(INTERRUPTED));
  try {
    for (;;) {
      const { dataSources } = await ask('status', {});
      const found = dataSources.find((one) => one.organizationId === organizationId && one.status === 'active' && !isAsBefore(one));
      if (found !== undefined) return found;
      if (!(await pause(POLL_MS, systemClock, whole.signal))) return whole.signal.reason === INTERRUPTED ? 'interrupted' : 'late';
    }
  } finally {
    forget();
    whole.dispose();
  }
}

function endText(end: ShownDataSource | 'late' | 'interrupted', waitS: number): string {
  if (end === 'interrupted') return 'interrupted before a data source was registered';
  if (end === 'late') return `no data source was registered within ${String(waitS)} s: look at the log of the server`;
  return `data source ${end.id} is registered, its token good until ${end.tokenExpiryTime}`;
}

function notifiedText(listeners: number): string {
  if (listeners === 0) return 'no webhook is registered, so nobody is notified: is the server running?';
  return listeners === 1 ? 'one webhook is notified' : `${String(listeners)} webhooks are notified`;
}
