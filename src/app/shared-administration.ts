// The administration of several servers that share a store: one leads and renews, the others trust what the leader writes, and every server
// accepts deliveries (L-10, L-15). `AdministrationMember` decides who leads.
import { serviceAppIdentity } from '../admin/access.ts';
import type { Administration, AdministrationOptions } from '../admin/administration.ts';
import { openDeliveryPort } from '../admin/webhooks/delivery-port.ts';
import type { Endpoint } from '../admin/webhooks/endpoint.ts';
import { readRegistrations, REGISTRATIONS_KEY, secretsIn } from '../admin/webhooks/kept-registrations.ts';
import { pause } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import { adminStore, type AdminStore } from '../store/redis/admin-store.ts';
import { RedisConnection } from '../store/redis/connection.ts';
import { SharedTexts } from '../store/redis/shared-texts.ts';
import type { Seal } from '../store/seal.ts';
import { AdministrationMember, type MemberParts } from './administration-member.ts';
import type { Settings } from './config/settings.ts';
import { PollLoop } from './poll-loop.ts';
import { watchedDataSource } from './watched-data-source.ts';

/** Interval of polls without requests, ms. */
const POLL_MS = 2000;
/** Minimum time between two polls for unknown tokens, and the longest wait of such a token, ms. */
const POLL_GAP_MS = 200;
const POLL_LIMIT_MS = 2000;
/** Most tokens and deliveries that wait for a poll. */
const MAX_WAITING = 1000;
/** Pause between two attempts to reach the store at the start, ms. */
const START_RETRY_MS = 5000;

export interface SharedAdministrationParts extends MemberParts {
  readonly options: Omit<AdministrationOptions, 'store'>;
  readonly lifecycle: Lifecycle;
  /** Gets the seal of the store, and a function to call after its keys have changed, which seals everything again. */
  readonly followKeys: (seal: Seal, rewrite: () => void) => void;
  /** Longest wait for `close`, ms. */
  readonly closeMs: number;
}

/**
 * Starts the administration. Resolves when valid tokens are trusted and, on the leader, as {@link Administration.start} does.
 *
 * @throws AppError `store_unavailable`, `store_failed`, `config_invalid`, `listen_failed`, `profile_invalid`, `shutting_down` when
 * `signal` aborts, and on the leader what {@link Administration.start} throws.
 */
export async function startSharedAdministration(
  redis: Settings['store']['redis'],
  seal: Seal,
  parts: SharedAdministrationParts,
): Promise<Pick<Administration, 'rest'>> {
  const { options, trust, metrics, clock, log, lifecycle } = parts;
  // Redis counts real time, so the lease needs the system clock.
  const storeClock = systemClock;
  const connection = await RedisConnection.open({ ...redis, clock: storeClock, log });
  lifecycle.opened('connection of the administration', () => connection.close());
  const store = adminStore(connection, redis.keyPrefix);
  const texts = await openTexts(store, seal, parts);
  // Read everything after a reconnection: Redis may have restarted with less data.
  connection.onChange(() => {
    texts.readAll();
  });
  const member = new AdministrationMember({ options, store, seal, texts, parts });
  parts.followKeys(seal, () => {
    void member.rewrite();
  });
  await member.follow();
  metrics.renews(false);
  const { times } = options;
  metrics.watch(
    () => member.states.map((state) => watchedDataSource(state, { times, nowMs: clock.nowMs(), isStoreWritable: member.isStoreUsable })),
    () => clock.nowMs(),
  );
  const loop = new PollLoop({
    ...{ everyMs: POLL_MS, gapMs: POLL_GAP_MS, limitMs: POLL_LIMIT_MS, maxWaiting: MAX_WAITING, clock: storeClock },
    poll: () => member.poll(),
  });
  lifecycle.opened('polls of the shared store', () => loop.close());
  const refresh = (): Promise<void> => loop.now();
  trust.refresh = refresh;
  const endpoint = await openDeliveries(options, { member, texts, refresh, clock });
  lifecycle.opened('deliveries', () => endpoint?.close());
  lifecycle.opened('administration', () => member.stop(), parts.closeMs);
  await member.start();
  // Stop leading at once, so that another server can: the open calls here need no renewal.
  return { rest: () => void member.stop() };
}

/** Waits for an unavailable store, unless admin.fail_startup is set. @throws as {@link startSharedAdministration}. */
async function openTexts(store: AdminStore, seal: Seal, { options, log, signal }: SharedAdministrationParts): Promise<SharedTexts> {
  for (;;) {
    try {
      return await SharedTexts.open(store, seal);
    } catch (thrown) {
      const err = toAppError(thrown);
      if (options.failsStart || err.code !== 'store_unavailable') throw err;
      log.warn({ event: 'admin_store_away', err }, 'the store of the administration cannot be read; trying again');
    }
    if (!(await pause(START_RETRY_MS, systemClock, signal))) throw new AppError('shutting_down', 'the start was given up');
  }
}

/** Opens the webhook endpoint, because every server accepts deliveries. Undefined without webhooks. @throws AppError `listen_failed`. */
async function openDeliveries(
  { access, profile, webhooks, observer }: SharedAdministrationParts['options'],
  {
    member,
    texts,
    refresh,
    clock,
  }: {
    readonly member: AdministrationMember;
    readonly texts: SharedTexts;
    readonly refresh: () => Promise<void>;
    readonly clock: SharedAdministrationParts['clock'];
  },
): Promise<Endpoint | undefined> {
  if (webhooks === undefined || access.type !== 'service_app') return undefined;
  return openDeliveryPort(webhooks, serviceAppIdentity(access.serviceApp, profile), {
    ...{ inbox: member, refresh, clock },
    secrets: () => secretsIn(readRegistrations(texts.peek(REGISTRATIONS_KEY)), clock.nowMs()),
    onDelivery: observer.delivered,
  });
}
