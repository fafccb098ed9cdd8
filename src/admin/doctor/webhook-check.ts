// Checks that we would be notified of authorizations: both webhooks of the app exist, are active and lead to us, and our receiver answers
// there.
import type { WebhookRegistration } from '../webhook-records.ts';
import { SERVICE_APP_EVENTS, type ServiceAppEventName } from '../webhooks/delivery.ts';
import { notifiesOf } from '../webhooks/registration.ts';
import { scopeFinding } from './access-checks.ts';
import { DELIVERY_STATUS } from '../webhooks/receiver.ts';
import type { Check, CheckTools } from './check.ts';
import type { ExaminedWebhooks } from './context.ts';
import { warning, type Found, type FindingCode } from './finding.ts';
import { EVERYTHING } from './subject.ts';
import { shownText } from '../../base/shown-text.ts';

const MEND = 'start the server with webhooks switched on, which registers and mends them';

/** Share of a check's limit for the delivery; the rest is for the list of webhooks. */
const PROBE_PART = 0.4;

/** Both webhooks are registered correctly. */
export const webhooksCheck: Check = {
  id: 'webhooks',
  title: 'we are notified of authorizations of the app',
  needs: [],
  tasks: (context) => [
    {
      subject: EVERYTHING,
      async run(tools) {
        const { signal } = tools;
        const { webhooks, profile } = context;
        if (webhooks === undefined || profile.webhook === undefined) return { skipped: 'no webhooks are wanted' };
        const { applicationId } = webhooks;
        const app = { applicationId, resource: profile.webhook.appResource, idScheme: profile.ids?.urnScheme ?? '' };
        try {
          const all = await webhooks.list(signal);
          const registered = SERVICE_APP_EVENTS.flatMap((event) => {
            const ours = all.filter((each) => notifiesOf(each, event, app));
            return findingsOf(event, ours, webhooks);
          });
          return [...(await receiverFindings(webhooks, tools)), ...registered];
        } catch (thrown) {
          const scopes = profile.oauth?.integrationScopes ?? [];
          return [scopeFinding(thrown, 'list of webhooks', `log in again with the integration and grant the scopes ${scopes.join(' ')}`)];
        }
      },
    },
  ],
};

/** One correct webhook is enough: further ones of the same app may belong to other servers. */
function findingsOf(
  event: ServiceAppEventName,
  registered: readonly WebhookRegistration[],
  { targetUrl }: ExaminedWebhooks,
): readonly Found[] {
  const [first] = registered;
  if (first === undefined) return [finding('webhook_missing', event, 'there is none for this app')];
  const here = registered.filter((each) => each.targetUrl === targetUrl);
  if (here.some(({ status }) => status === 'active')) return [];
  if (here.length > 0) return [finding('webhook_inactive', event, 'the platform has switched it off after failed deliveries')];
  const target = first.targetUrl === undefined ? 'an unknown address' : shownText(first.targetUrl, [first.secret]);
  return [finding('webhook_target', event, `it leads to ${target} and not to ${shownText(targetUrl)}`)];
}

/** Deliveries reach our receiver, as seen from this machine. If not, that is probably why the platform has disabled a webhook. */
async function receiverFindings(webhooks: ExaminedWebhooks, { clock, limitMs, signal }: CheckTools): Promise<readonly Found[]> {
  const probed = await webhooks.knock({ clock, signal, limitMs: limitMs * PROBE_PART });
  if (probed.kind === 'connected' && probed.value === DELIVERY_STATUS.unsigned) return [];
  const what =
    probed.kind === 'failed'
      ? `deliveries are not taken there (${probed.code})`
      : `something else than our receiver answers deliveries there, with status ${String(probed.value)}`;
  const mend = 'start the server, and let what stands before it pass this path on to admin.webhooks.port';
  return [warning('webhook_unanswered', what, mend, shownText(webhooks.targetUrl))];
}

/** Only a warning: calls come in without webhooks; only new organizations become known later (H-25). */
function finding(code: FindingCode, event: ServiceAppEventName, what: string): Found {
  return warning(code, what, MEND, `webhook of the event ${event}`);
}
