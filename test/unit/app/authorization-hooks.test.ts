// The hooks that settings name, as the administration gets them.
import { expect, it } from 'vitest';
import { authorizationHooks } from '../../../src/app/authorization-hooks.ts';
import { AuthorizationHooks } from '../../../src/admin/webhooks/authorization-hooks.ts';
import { json } from '../../support/admin-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { speechService } from '../../support/speech-service.ts';

it('an address is asked nothing any more once the hooks are closed', async () => {
  const service = await speechService(json({}));
  const clock = new FakeClock();
  const named = authorizationHooks({ command: [], url: service.url, key: undefined, timeoutMs: 1000 }, { clock, callback: undefined });
  const hooks = new AuthorizationHooks({ hooks: named, limitMs: 1000, clock, onFailed: () => undefined });
  const result = { event: 'deauthorized', organizationId: 'org', authorizedAtMs: 0 } as const;
  await named[0]?.run(result, new AbortController().signal);
  await hooks.close();
  await expect(named[0]?.run(result, new AbortController().signal)).rejects.toMatchObject({ code: 'hook_failed' });
  expect(service.received).toHaveLength(1);
  expect(clock.pendingTimers).toBe(0);
});
