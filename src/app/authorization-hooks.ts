// Notifies a program, a web address and a callback when an organization authorizes the service app or withdraws that. A notification has
// the event, the organization and the date, but no token.
import type { NamedHook } from '../admin/webhooks/authorization-hooks.ts';
import type { AuthorizationHook, AuthorizationResult } from '../admin/webhooks/authorization-result.ts';
import { PLAIN_ENVIRONMENT, runProgram } from '../base/child-program.ts';
import type { Clock } from '../base/clock.ts';
import { HttpService } from '../base/http-service.ts';
import type { AdminSettings } from './admin-settings.ts';

/** Limit for an HTTP answer and for a program's output, bytes; a longer one is a failure. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * Creates the configured hooks. The caller closes them.
 *
 * @param callback - of an embedding program; undefined without one.
 */
export function authorizationHooks(
  { command, url, key, timeoutMs }: AdminSettings['authorizationHook'],
  { clock, callback }: { readonly clock: Clock; readonly callback: AuthorizationHook | undefined },
): readonly NamedHook[] {
  const [file, ...args] = command;
  return [
    ...(callback === undefined ? [] : [{ name: 'callback', run: callback } as const]),
    ...(file === undefined ? [] : [{ name: 'command', run: programHook([file, ...args]) } as const]),
    ...(url === undefined ? [] : [addressHook({ url, key, timeoutMs, clock })]),
  ];
}

/** The notification as JSON. */
function bodyOf({ event, organizationId, authorizedAtMs }: AuthorizationResult) {
  return { event, organizationId, authorizedAt: new Date(authorizedAtMs).toISOString() };
}

function programHook(command: readonly [string, ...string[]]): AuthorizationHook {
  return async (result, signal) => {
    const body = bodyOf(result);
    const env = {
      ...PLAIN_ENVIRONMENT,
      AUTHORIZATION_EVENT: body.event,
      AUTHORIZATION_ORGANIZATION: body.organizationId,
      AUTHORIZATION_DATE: body.authorizedAt,
    };
    const about = { name: 'the program of admin.authorization_hook.command', code: 'hook_failed' } as const;
    const program = runProgram({ ...about, command, env, maxOutputBytes: MAX_ANSWER_BYTES }, Buffer.from(JSON.stringify(body)));
    if (signal.aborted) program.kill();
    else signal.addEventListener('abort', program.kill, { once: true });
    try {
      await program.output;
    } finally {
      signal.removeEventListener('abort', program.kill);
    }
  };
}

function addressHook(how: {
  readonly url: string;
  readonly key: string | undefined;
  readonly timeoutMs: number;
  readonly clock: Clock;
}): NamedHook {
  const service = new HttpService({
    ...how,
    ...{ name: 'the service at admin.authorization_hook.url', code: 'hook_failed' },
    ...{ firstByteMs: how.timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES },
  });
  const headers = { 'content-type': 'application/json' };
  const run: AuthorizationHook = (result, signal) =>
    service.ask({ path: '', headers, body: JSON.stringify(bodyOf(result)) }, signal, () => Promise.resolve());
  return { name: 'url', run, close: () => service.close() };
}
