// Runs one step of a reconciler, for a command. The nonce is in the journal before the request is sent, so the next command or server
// continues an attempt with unknown outcome.
import { TrustedDataSources } from '../../auth/data-sources.ts';
import { NonceBook } from '../../auth/nonces.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { DataSourceReconciler } from '../lifecycle/data-source-reconciler.ts';
import { journalKey, NonceJournal } from '../lifecycle/nonce-journal.ts';
import type { DataSourcesApi, Transition, WantedDataSource } from '../lifecycle/ports.ts';
import type { LifecycleTimes } from '../lifecycle/schedule.ts';
import { ServedDataSource } from '../lifecycle/served-data-source.ts';
import type { SecretStore } from '../secret-store.ts';

/** The outcome; `repaired` includes a renewal. */
export type KeptOutcome = Extract<Transition, 'created' | 'adopted' | 'repaired' | 'renewed'>;

export interface KeepOnceParts {
  readonly api: DataSourcesApi;
  /** Held by this process. */
  readonly store: SecretStore;
  readonly times: LifecycleTimes;
  readonly clock: Clock;
  /** Whether to obtain a new token even if the current one is not due. */
  readonly isRenewed: boolean;
  /** Whether to keep a journal; false for a data source that this store does not manage. Default true. */
  readonly isJournalled?: boolean;
}

/**
 * Runs the step.
 *
 * @throws AppError of the platform, `data_source_unclear`, and `store_failed` when the change was made but its nonce could not be stored.
 */
export async function keepOnce(
  wanted: WantedDataSource,
  { api, store, times, clock, isRenewed, isJournalled = true }: KeepOnceParts,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly outcome: KeptOutcome }> {
  const trust = { sources: new TrustedDataSources(), nonces: new NonceBook({ clock }) };
  let unsaved: AppError | undefined;
  const journal = await NonceJournal.open({
    ...{ key: journalKey(wanted), store: isJournalled ? store : NOWHERE, configured: wanted, clock },
    onUnsaved: (error) => (unsaved = error),
  });
  const seen = new Set<Transition>();
  const reconciler = new DataSourceReconciler({
    ...{ wanted, api, journal, times, clock, trust },
    // As a leader, so that no nonce is sent that is not stored: a server that starts later would refuse its calls.
    leader: { served: () => new ServedDataSource(wanted, trust), confirm: () => Promise.resolve() },
    observer: { dataSourceChanged: ({ transition }) => void seen.add(transition) },
  });
  const stop = (): void => void reconciler.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) await reconciler.stop();
    // Requested before the first step, so that one change repairs and renews.
    const renewed = isRenewed ? reconciler.renew() : undefined;
    await reconciler.start();
    await renewed;
    // The step found an earlier renewal whose answer was lost, and did not renew again.
    if (isRenewed && outcomeOf(seen) === 'adopted' && !signal.aborted) {
      const { error } = await reconciler.renew();
      if (error !== undefined) throw error;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await reconciler.stop();
  }
  const id = reconciler.state.dataSourceId;
  const outcome = outcomeOf(seen);
  if (id === undefined || outcome === undefined) {
    throw new AppError('platform_unavailable', 'a change of a data source was not waited for; it may have been done nevertheless');
  }
  if (unsaved !== undefined) {
    throw new AppError('store_failed', `the data source ${id} was ${outcome}, but its nonce could not be saved: ${unsaved.message}`, {
      cause: unsaved,
    });
  }
  return { id, outcome };
}

/** The transition to report: the first in this order. */
function outcomeOf(seen: ReadonlySet<Transition>): KeptOutcome | undefined {
  return (['created', 'repaired', 'renewed', 'adopted'] as const).find((outcome) => seen.has(outcome));
}

/** A store without texts, for a journal that nobody will read. */
const NOWHERE: SecretStore = {
  get: () => Promise.resolve(undefined),
  set: () => Promise.resolve(),
  delete: () => Promise.resolve(),
  keys: () => Promise.resolve([]),
};
