// The checks before a start, for the doctor's runner: what would fail with these settings? They need no running server and change nothing:
// services get requests, files are only read, and opened resources are closed again.
import { clockCheck } from '../../admin/doctor/access-checks.ts';
import type { Check, CheckTask, Verdict } from '../../admin/doctor/check.ts';
import type { DoctorContext } from '../../admin/doctor/context.ts';
import { fault, warning } from '../../admin/doctor/finding.ts';
import { storeCheck } from '../../admin/doctor/store-check.ts';
import { EVERYTHING } from '../../admin/doctor/subject.ts';
import { INTEGRATION_KEY } from '../../admin/oauth/integration-tokens.ts';
import { platformAddress } from '../../admin/platform-address.ts';
import { Descriptors } from '../../base/descriptors.ts';
import { AppError, ERROR_MENDS } from '../../base/errors.ts';
import { loadBots } from '../../bot/loader.ts';
import { openAdminAccess } from '../admin-access.ts';
import { botsFolder } from '../bot-folders.ts';
import { descriptorsNeeded } from '../descriptor-watch.ts';
import { dateAt, storeOf, type PreflightParts } from '../examination.ts';
import { openCatalog } from '../open-catalog.ts';
import { openTokenCheck } from '../token-check.ts';
import { openTrust } from '../trust.ts';
import { addressTasks, certificateTasks } from './addresses.ts';
import { folderTasks } from './folders.ts';
import { serviceTasks } from './services.ts';

type PreflightContext = Pick<DoctorContext, 'store' | 'platformDate'>;

export interface Preflight {
  readonly checks: readonly Check<PreflightContext>[];
  readonly context: PreflightContext;
}

/** Prepares the checks. Sends no request yet. */
export function preflightOf(parts: PreflightParts): Preflight {
  const { settings, profile } = parts;
  const { admin, auth, platform } = settings;
  const asked = admin.enabled ? platformAddress(profile, admin.baseUrl).baseUrl : [...platform.extraIssuers, ...profile.jws.issuers][0];
  const isAsked = asked !== undefined && (admin.enabled || auth.enabled);
  const checks: readonly Check<PreflightContext>[] = [
    storeCheck,
    clockCheck,
    check('descriptors', 'the process may open as many files as its settings need', [
      { subject: EVERYTHING, run: () => descriptors(parts) },
    ]),
    check('own_certificate', 'the certificate of this server is good', certificateTasks(parts)),
    check('key_sets', 'an issuer of tokens gives its keys', auth.enabled ? [{ subject: ISSUERS, run: () => keySets(parts) }] : []),
    check('login', 'somebody has logged in', admin.enabled ? [{ subject: LOGIN, run: () => login(parts) }] : [], ['store']),
    check('address', 'what stands at the registered address is good', addressTasks(parts)),
    check('service', 'it can be asked', serviceTasks(parts)),
    check('folder', 'it can be written and has room', folderTasks(settings)),
    check('bots', 'they load, and those of the settings are there', [{ subject: BOTS, run: () => bots(parts) }]),
  ];
  const platformDate = isAsked ? (signal: AbortSignal): Promise<string | null> => dateAt(asked, signal) : undefined;
  return { checks, context: { store: storeOf(parts), platformDate } };
}

const ISSUERS = { text: 'the issuers of tokens', path: ['all', 'issuers'] };
/** The login may be in the shared store. */
const LOGIN = { text: 'the administration', path: ['all', 'store', 'login'] };
const BOTS = { text: 'the bots', path: ['all', 'bots'] };

function check(id: Check['id'], title: string, tasks: readonly CheckTask[], needs: readonly Check['id'][] = []): Check<PreflightContext> {
  return { id, title, needs, tasks: () => tasks };
}

function descriptors({ settings }: PreflightParts): Verdict {
  const counted = new Descriptors();
  const needed = descriptorsNeeded(counted, settings);
  if (counted.limit === undefined) return { skipped: 'this system does not say how many there may be' };
  if (counted.limit >= needed) return [];
  const what = `the settings need ${String(needed)} file descriptors, and this process may have ${String(counted.limit)}`;
  return [warning('descriptors_few', what, 'raise LimitNOFILE or ulimit -n, or lower grpc.max_connections or websocket.max_connections')];
}

/** Fetches the key sets like a starting server, which is ready when the first issuer has given keys. */
async function keySets({ settings, profile, clock, log }: PreflightParts): Promise<Verdict> {
  const tokenCheck = openTokenCheck(settings, { profile, trust: openTrust(settings, profile, clock), clock, log });
  try {
    const holds = new Set<symbol>();
    await tokenCheck.watchKeys(() => {
      const hold = Symbol();
      holds.add(hold);
      return () => holds.delete(hold);
    });
    if (holds.size === 0) return [];
    const mend = 'allow outbound HTTPS to the issuers';
    return [fault('key_set_unreachable', 'no issuer of tokens gives its keys, so no token could be checked', mend)];
  } finally {
    tokenCheck.close();
  }
}

/** Whether the administration's store opens and has a login. */
async function login({ settings: { admin, store: sharing }, profile, clock, log }: PreflightParts): Promise<Verdict> {
  const access = await openAdminAccess(admin, { profile, clock, log, sharing, purpose: 'read' });
  try {
    const isThere = admin.login !== 'service_app' || (await access.store.get(INTEGRATION_KEY)) !== undefined;
    return isThere ? [] : [fault('login_missing', 'nobody has logged in with the integration', ERROR_MENDS.login_needed, access.keptIn)];
  } finally {
    await access.close();
  }
}

/** Loads the bots like the server, which runs the top-level code of their modules. */
async function bots({ settings, originOf }: PreflightParts): Promise<Verdict> {
  const folder = botsFolder(settings.bots);
  try {
    openCatalog(await loadBots(folder), settings.bots, originOf);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const mend = 'mend what the message says; `parley bots check` says more';
    return [fault('bot_invalid', thrown.message.replaceAll(/\s+/gu, ' '), mend, folder)];
  }
}
