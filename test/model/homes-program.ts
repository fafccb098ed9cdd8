// What one random call looks like whose turns come to several processes, as plain data: which of them die, stand still, stop and begin,
// and when. It plays the same way every time and shrinks.
import fc from 'fast-check';

/** What a turn brings. `key_late` is answered after a while, `bye` ends the call, `long` is said for seconds, `nothing` only listens. */
export type Brought = 'start' | 'key' | 'key_late' | 'long' | 'bye' | 'nothing' | 'hang_up';

/** One thing that happens. `at` chooses among the processes that take turns. */
export type HomesAct =
  | { readonly kind: 'turn'; readonly at: number; readonly brings: Brought }
  /** The platform closes the streams on which nothing has come. */
  | { readonly kind: 'half_close' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'kill' | 'freeze' | 'thaw' | 'drain'; readonly at: number };

/** One random call. */
export interface HomesProgram {
  readonly acts: readonly HomesAct[];
}

const at = fc.nat({ max: 2 });
const act: fc.Arbitrary<HomesAct> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      at,
      brings: fc.constantFrom<Brought>(
        'key',
        'key',
        'key',
        'key_late',
        'key_late',
        'long',
        'nothing',
        'nothing',
        'start',
        'bye',
        'hang_up',
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('half_close' as const) }) },
  // Around the bounds of homes: a beat, a silent death, the patience of a drain.
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(50, 300, 750, 2000, 4000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('kill' as const, 'freeze' as const, 'drain' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('thaw' as const), at }) },
);

/** Random calls. */
export const homesProgram: fc.Arbitrary<HomesProgram> = fc.record({ acts: fc.array(act, { maxLength: 25, size: 'max' }) });
