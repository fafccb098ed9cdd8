// `parley platform break` and `mend`: cause failures on purpose, to see how a server handles failures, and end them again.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { BreakKind, ControlRequest } from '../../platform/control-wire.ts';
import { ROUTE_NAMES, type RouteName } from '../../platform/route.ts';
import { wholeNumber } from '../../../base/terminal/option-values.ts';
import { controlCommand, controlWork } from './control-command.ts';

interface Flags {
  readonly route: RouteName | 'any';
  readonly times: number;
  readonly retryAfter: number;
  readonly seconds?: number;
  readonly org?: string;
  readonly message: string;
}

type Order = ControlRequest<'break'>;

/** The help of every kind of failure, and the function that makes the request from the flags. */
const KINDS: Readonly<Record<BreakKind, readonly [help: string, order: (flags: Flags, command: Command) => Order]>> = {
  '500': ['the next requests are answered with 500', ({ route, times }) => ({ kind: '500', route, times })],
  '429': [
    'the next requests are answered with 429 and Retry-After (--retry-after)',
    ({ route, times, retryAfter }) => ({ kind: '429', route, times, retryAfterSeconds: retryAfter }),
  ],
  timeout: ['the next requests get no answer at all', ({ route, times }) => ({ kind: 'timeout', route, times })],
  'lost-answer': [
    'the next requests are carried out, and their answers are lost',
    ({ route, times }) => ({ kind: 'lost-answer', route, times }),
  ],
  'clock-skew': [
    "the platform's clock is wrong by --seconds",
    ({ seconds }, command) => ({ kind: 'clock-skew', seconds: seconds ?? missing(command, '--seconds') }),
  ],
  'refresh-tokens': [
    'refresh tokens end, and access tokens with them: of --org, or of everybody',
    ({ org }) => ({ kind: 'refresh-tokens', ...(org === undefined ? {} : { organizationId: org }) }),
  ],
  'data-source': [
    'the data sources of --org are disabled, for the reason of --message',
    ({ org, message }, command) => ({ kind: 'data-source', organizationId: org ?? missing(command, '--org'), errorMessage: message }),
  ],
};

export function breakCommand(): Command {
  const names = Object.keys(KINDS);
  const width = Math.max(...names.map((name) => name.length));
  const list = Object.entries(KINDS).map(([name, [help]]) => `  ${name.padEnd(width)}  ${help}`);
  const command = new Command('break')
    .description('let something go wrong')
    .argument('<kind>', 'what', breakKind)
    .addOption(new Option('--route <name>', 'which requests').choices(['any', ...ROUTE_NAMES]).default('any'))
    .option('--times <n>', 'how many of them', wholeNumber, 1)
    .option('--retry-after <s>', 'seconds that 429 asks to wait', wholeNumber, 1)
    .option('--seconds <n>', 'how wrong the clock is; a minus sign for late', signedNumber)
    .option('--org <id>', 'the organization that is concerned')
    .option('--message <text>', 'why a data source is disabled', 'disabled by an administrator')
    .addHelpText('after', `\nKinds:\n${list.join('\n')}`);
  return controlCommand(command, "break 429 --retry-after 3 --route 'PUT /dataSources/:id'").action(
    async (kind: BreakKind, flags: Flags) => {
      const { ask, show } = controlWork(command);
      const order = KINDS[kind][1](flags, command);
      const answer = await ask('break', order);
      show({ ...order, ...answer }, doneText(order, answer.count));
    },
  );
}

export function mendCommand(): Command {
  const command = new Command('mend').description('forget what was ordered to go wrong and has not yet, and set the clock right');
  return controlCommand(command, 'mend').action(async () => {
    const { ask, show } = controlWork(command);
    const answer = await ask('mend', {});
    show(answer, `${String(answer.faults)} ${answer.faults === 1 ? 'fault is' : 'faults are'} forgotten, and the clock is right`);
  });
}

function doneText(order: Order, count: number): string {
  switch (order.kind) {
    case 'clock-skew':
      return `the platform's clock is wrong by ${String(order.seconds)} s`;
    case 'refresh-tokens':
      return count === 1 ? 'one token has ended' : `${String(count)} tokens have ended`;
    case 'data-source':
      return count === 1 ? 'one data source is disabled' : `${String(count)} data sources are disabled`;
    default: {
      const { route = 'any', times = 1 } = order;
      return `${order.kind} for the next ${times === 1 ? 'request' : `${String(times)} requests`}${route === 'any' ? '' : ` ${route}`}`;
    }
  }
}

function missing(command: Command, option: string): never {
  return command.error(`error: this kind needs ${option}`);
}

function breakKind(text: string): BreakKind {
  const found = Object.keys(KINDS).find((name): name is BreakKind => name === text);
  if (found === undefined) throw new InvalidArgumentError(`Give one of ${Object.keys(KINDS).join(', ')}.`);
  return found;
}

function signedNumber(text: string): number {
  if (!/^[+-]?\d{1,7}$/u.test(text)) throw new InvalidArgumentError('Give a whole number, with a minus sign or without.');
  return Number(text);
}
