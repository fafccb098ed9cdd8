// The list of all checks. Results come in this order.
import { clockCheck, organizationTokenCheck, platformAccessCheck, scopesCheck } from './access-checks.ts';
import { agentsCheck } from './agents-check.ts';
import type { Check } from './check.ts';
import { alpnCheck, certificateCheck, healthCheck, listensCheck, tlsHandshakeCheck, upgradeCheck } from './endpoint-checks.ts';
import { dataSourceCheck, schemaCheck, statusCheck, urlCheck } from './registration-checks.ts';
import { issuerCheck, keySetCheck, nonceCheck, testTokenCheck, tokenExpiryCheck } from './token-checks.ts';
import { storeCheck } from './store-check.ts';
import { webhooksCheck } from './webhook-check.ts';

/** All checks. Each comes after the checks that it needs. */
export const DOCTOR_CHECKS: readonly Check[] = [
  storeCheck,
  ...[organizationTokenCheck, platformAccessCheck, scopesCheck],
  ...[dataSourceCheck, schemaCheck, urlCheck, statusCheck],
  ...[tokenExpiryCheck, nonceCheck, issuerCheck, keySetCheck, testTokenCheck],
  clockCheck,
  ...[listensCheck, tlsHandshakeCheck, certificateCheck, alpnCheck, healthCheck, upgradeCheck],
  ...[webhooksCheck, agentsCheck],
];
