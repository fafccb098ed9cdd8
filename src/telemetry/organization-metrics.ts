// Metrics of organizations. Only organizations that the operator has listed are labels, so that traffic cannot create new series.
import type { Registry } from 'prom-client';
import type { Admission, AdmissionLimits } from '../session/admission.ts';
import type { SessionObserver } from '../session/ports.ts';
import { MetricMaker } from './metric-maker.ts';

/** Most organizations as labels, not counting `other`. */
const MAX_LABELS = 100;
const OTHER = 'other';

/** The organizations that are known to the metrics, with their limits and counts. */
export interface KnownOrganizations {
  readonly limits: Pick<AdmissionLimits, 'organizations' | 'perOrganization'>;
  readonly admission: Pick<Admission, 'openCalls'>;
}

/** Creates the metrics in a registry. @returns an observer that counts new calls. */
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
