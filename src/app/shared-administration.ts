// The administration of several servers with one store: one of them renews, the others let in what it has written down, and each
// takes deliveries for all (L-10, L-15). Joins the parts; when this server renews is decided by its ownership.
import type { Administration, AdministrationOptions } from '../admin/administration.ts';
import { pause } from '../base/abort.ts';
import { every, systemClock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import { adminPlace, NEWS, sharedServer } from '../store/redis/admin-place.ts';
import { RedisConnection } from '../store/redis/connection.ts';
import { DeliveryQueue } from '../store/redis/delivery-queue.ts';
import { OWNER_LEASE_MS, takeOwnership } from '../store/redis/owner-lease.ts';
import { SharedTexts, type SharedTextsOptions } from '../store/redis/shared-texts.ts';
import type { Seal } from '../store/seal.ts';
import { CoalescedLook } from './coalesced-look.ts';
import type { Settings } from './config/settings.ts';
import { RenewalOwnership } from './renewal-ownership.ts';
import { openReplicaDoor } from './replica-door.ts';
import { Replica, type ReplicaParts } from './replica.ts';
import { watchedDataSource } from './watched-data-source.ts';

/** Between two looks that nobody asks for, and between two tries to become the one that renews, ms. */
const LOOK_MS = OWNER_LEASE_MS / 3;
/** Least time between two looks for tokens that are not known, and the longest that one of these waits, ms. */
const LOOK_GAP_MS = 200;
const LOOK_LIMIT_MS = 2000;
/** Most tokens and deliveries that wait for a look. */
const MAX_WAITING = 1000;

/** What it is joined to. */
export interface SharedAdministrationParts extends ReplicaParts {
  readonly options: Omit<AdministrationOptions, 'store'>;
  readonly lifecycle: Lifecycle;
  /** Hands on the seal of the store, and what writes it anew once the keys of the seal have changed. */
  readonly followKeys: (seal: Seal, rewrite: () => void) => void;
  /** Longest wait for its end, ms. */
  readonly closeMs: number;
}

/**
 * Starts it. Resolves when tokens are let in that are good, and where this server renews as {@link Administration.start} does.
 *
 * @throws AppError `store_unavailable`, `store_failed`, `config_invalid`, `listen_failed`, `profile_invalid`, `shutting_down` when
 *   the start is given up, and where this server renews what {@link Administration.start} throws.
 */
export async function startSharedAdministration(
  redis: Settings['store']['redis'],
  seal: Seal,
  parts: SharedAdministrationParts,
): Promise<Pick<Administration, 'rest'>> {
  const { options, trust, metrics, clock, log, lifecycle } = parts;
  // The server of the store counts real time, whatever the clock of the rest says.
  const storeClock = systemClock;
  const connection = await RedisConnection.open({ ...redis, clock: storeClock, log });
  lifecycle.opened('connection of the administration', () => connection.close());
  const server = sharedServer(connection);
  const place = adminPlace(redis.keyPrefix);
  const texts = await openTexts({ server, place, seal }, parts);
  const replica = new Replica({ options, texts, queue: new DeliveryQueue({ server, place, seal }), parts });
  parts.followKeys(seal, () => {
    void replica.rewrite();
  });
  await replica.follow();
  metrics.renews(false);
  const { times } = options;
  metrics.watch(
    () => replica.states.map((state) => watchedDataSource(state, { times, nowMs: clock.nowMs(), isStoreWritable: replica.isStoreUsable })),
    () => clock.nowMs(),
  );

  const ownership = new RenewalOwnership({
    ...{ retryMs: LOOK_MS, clock: storeClock, log },
    take: () => takeOwnership({ server, place, clock: storeClock }, texts.claim),
    reign: (lease, isFirst) => replica.reign(lease, isFirst),
  });
  const looks = new CoalescedLook({
    ...{ gapMs: LOOK_GAP_MS, limitMs: LOOK_LIMIT_MS, maxWaiting: MAX_WAITING, clock: storeClock },
    look: async () => {
      await replica.look();
      // Whoever renews was started with less than all others know.
      if (texts.claim.deposes !== '') ownership.hurry();
    },
  });
  lifecycle.opened('looks at the shared store', () => looks.close());
  trust.look = () => looks.now();

  const door = await openReplicaDoor(options, { replica, texts, look: () => looks.now(), clock });
  lifecycle.opened('deliveries', () => door?.close());
  const endLooking = every(storeClock, LOOK_MS, () => {
    void replica.tend();
  });
  const endListening = server.listen(place.news, (news) => {
    if (news === NEWS.free) ownership.hurry();
    else if (news === NEWS.deliveries) void replica.takeWaiting();
    else if (!replica.renews) void looks.now();
  });
  lifecycle.opened(
    'administration',
    async () => {
      endListening();
      endLooking();
      await ownership.stop();
    },
    parts.closeMs,
  );
  await ownership.start();
  // Handed over at once: what this server still does for open calls needs no renewal.
  return { rest: () => void ownership.stop() };
}

/** Without admin.fail_startup a store that is away is waited for, as the platform is. @throws as {@link startSharedAdministration}. */
async function openTexts(texts: SharedTextsOptions, { options, log, signal }: SharedAdministrationParts): Promise<SharedTexts> {
  for (;;) {
    try {
      return await SharedTexts.open(texts);
    } catch (thrown) {
      const err = toAppError(thrown);
      if (options.failsStart || err.code !== 'store_unavailable') throw err;
      log.warn({ event: 'admin_store_away', err }, 'the store of the administration cannot be read; trying again');
    }
    if (!(await pause(LOOK_MS, systemClock, signal))) throw new AppError('shutting_down', 'the start was given up');
  }
}
