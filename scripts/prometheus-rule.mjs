// The rules of deploy/prometheus as an object for the Prometheus operator. Knows no rule.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { formatted } from './formatted.mjs';

/** Where it is written. */
export const PROMETHEUS_RULE = 'deploy/prometheus-operator/prometheus-rule.yaml';
const HEAD = '# The rules of deploy/prometheus for the Prometheus operator, written by `npm run generate`. Change them there.\n';

/**
 * The object. The same rules always give the same file.
 *
 * @param {string} root - of the project
 * @returns {Promise<string>}
 */
export function prometheusRule(root) {
  const groups = ['slo', 'alerts'].flatMap((name) => parse(readFileSync(path.join(root, `deploy/prometheus/${name}.yaml`), 'utf8')).groups);
  const metadata = { name: 'parley', namespace: 'parley' };
  const object = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec: { groups } };
  return formatted(root, PROMETHEUS_RULE, HEAD + stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }));
}
