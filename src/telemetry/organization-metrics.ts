// Metrics of organizations. The labels are those that the operator has listed, so that no series grow with the traffic.
import type { Registry } from 'prom-client';
import type { Admission, AdmissionLimits } from '../session/admission.ts';
import type { SessionObserver } from '../session/ports.ts';
import { MetricMaker } from './metric-maker.ts';

/** Most organizations that are labels, beside `other`. */
const MAX_LABELS = 100;
const OTHER = 'other';

/** What the metrics know of organizations. */
export interface KnownOrganizations {
  readonly limits: Pick<AdmissionLimits, 'organizations' | 'perOrganization'>;
  readonly admission: Pick<Admission, 'openCalls'>;
}

/** Adds them. @returns an observer that counts new calls. */
export function organizationMetrics(registry: Registry, { limits, admission }: KnownOrganizations): SessionObserver {
  const make = new MetricMaker(registry);
  const named = new Set([...limits.organizations.keys()].slice(0, MAX_LABELS));
  const organization = [...named, OTHER];
  const labelOf = (id: string): string => (named.has(id) ? id : OTHER);
  make.gauge('parley_organization_sessions_open', 'Open calls of the organization.', {
    labels: { organization },
    collect: (gauge) => {
      for (const each of organization) gauge.set({ organization: each }, 0);
      for (const [id, calls] of admission.openCalls) gauge.inc({ organization: labelOf(id) }, calls);
    },
  });
  make.gauge('parley_organization_sessions_limit', 'Most open calls it may have on all servers together; 0: no limit.', {
    labels: { organization },
    aggregator: 'max',
    collect: (gauge) => {
      for (const each of organization) {
        gauge.set({ organization: each }, (limits.organizations.get(each) ?? limits.perOrganization).maxSessions);
      }
    },
  });
  const started = make.counter('parley_organization_sessions_started_total', 'Calls of the organization that started.', { organization });
  return {
    sessionStarted({ organizationId }, isContinued = false) {
      if (!isContinued) started.inc({ organization: labelOf(organizationId) });
    },
  };
}
