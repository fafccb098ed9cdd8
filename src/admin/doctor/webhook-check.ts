// Would we hear of authorizations: are the two webhooks of the app there, active, and do they lead to us?
import { isSameId } from '../platform-id.ts';
import type { WebhookRegistration } from '../webhook-records.ts';
import { scopeFinding } from './access-checks.ts';
import type { Check, Finding, FindingCode } from './check.ts';
import type { DoctorContext, ExaminedWebhooks } from './context.ts';
import { EVERYTHING } from './subject.ts';
import { shownText } from '../shown-text.ts';

const EVENTS = ['authorized', 'deauthorized'] as const;
type Event = (typeof EVENTS)[number];

const MEND = 'start the server with webhooks switched on, which registers and mends them';

/** Both webhooks are as they must be. */
export const webhooksCheck: Check = {
  id: 'webhooks',
  title: 'authorizations of the app are told to us',
  needs: [],
  tasks: (context) => [
    {
      subject: EVERYTHING,
      async run({ signal }) {
        const { webhooks, profile } = context;
        if (webhooks === undefined) return { skipped: 'no webhooks are wanted' };
        try {
          const all = await webhooks.list(signal);
          return EVENTS.flatMap((event) => findingsOf(event, ours(all, event, webhooks, context), webhooks));
        } catch (thrown) {
          const scopes = profile.oauth?.integrationScopes ?? [];
          return [scopeFinding(thrown, 'list of webhooks', `log in again with the integration and grant the scopes ${scopes.join(' ')}`)];
        }
      },
    },
  ],
};

function ours(
  all: readonly WebhookRegistration[],
  event: Event,
  { applicationId }: ExaminedWebhooks,
  { profile }: DoctorContext,
): readonly WebhookRegistration[] {
  const scheme = profile.ids?.urnScheme ?? '';
  return all.filter((each) => {
    const filtered = /^id=(?<id>.+)$/u.exec(each.filter ?? '')?.groups?.['id'];
    return (
      each.resource === profile.webhook?.appResource &&
      each.event === event &&
      filtered !== undefined &&
      isSameId(filtered, applicationId, 'APPLICATION', scheme)
    );
  });
}

/** Other servers may have webhooks of the same app: one that is right is enough. */
function findingsOf(event: Event, registered: readonly WebhookRegistration[], { targetUrl }: ExaminedWebhooks): readonly Finding[] {
  const [first] = registered;
  if (first === undefined) return [finding('webhook_missing', event, 'there is none for this app')];
  const here = registered.filter((each) => each.targetUrl === targetUrl);
  if (here.some(({ status }) => status === 'active')) return [];
  if (here.length > 0) return [finding('webhook_inactive', event, 'the platform has switched it off after failed deliveries')];
  const target = first.targetUrl === undefined ? 'an unknown address' : shownText(first.targetUrl, [first.secret]);
  return [finding('webhook_target', event, `it leads to ${target} and not to ${shownText(targetUrl)}`)];
}

/** Calls come in without webhooks; only new organizations are not heard of at once (H-25). */
function finding(code: FindingCode, event: Event, what: string): Finding {
  return { code, severity: 'warning', what, where: `webhook of the event ${event}`, mend: MEND };
}
