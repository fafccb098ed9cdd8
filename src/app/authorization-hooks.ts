// What the operator's settings name to be told of authorizations: a program, an address, and the code of whoever starts the
// server. They get the event, the organization and the date, and no token.
import type { NamedHook } from '../admin/webhooks/authorization-hooks.ts';
import type { AuthorizationHook, AuthorizationResult } from '../admin/webhooks/authorization-result.ts';
import { runProgram } from '../base/child-program.ts';
import type { Clock } from '../base/clock.ts';
import { HttpService } from '../base/http-service.ts';
import type { AdminSettings } from './admin-settings.ts';

/** All of an environment that the program has beside the event: ours may hold secrets. */
const PLAIN_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' };
/** More than this of an answer, or of what a program prints, is a failure, bytes. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * The hooks that there are. What they hold is let go of when their signal aborts.
 *
 * @param callback - of whoever starts the server; undefined: none.
 */
export function authorizationHooks(
  { command, url, key, timeoutMs }: AdminSettings['authorizationHook'],
  { clock, callback }: { readonly clock: Clock; readonly callback: AuthorizationHook | undefined },
): readonly NamedHook[] {
  const [file, ...args] = command;
  return [
    ...(callback === undefined ? [] : [{ name: 'callback', run: callback } as const]),
    ...(file === undefined ? [] : [{ name: 'command', run: programHook([file, ...args]) } as const]),
    ...(url === undefined ? [] : [{ name: 'url', run: addressHook({ url, key, timeoutMs, clock }) } as const]),
  ];
}

/** As JSON. */
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
}): AuthorizationHook {
  const service = new HttpService({
    ...how,
    ...{ name: 'the service at admin.authorization_hook.url', code: 'hook_failed' },
    ...{ firstByteMs: how.timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES },
  });
  const headers = { 'content-type': 'application/json' };
  return (result, signal) => service.ask({ path: '', headers, body: JSON.stringify(bodyOf(result)) }, signal, () => Promise.resolve());
}
