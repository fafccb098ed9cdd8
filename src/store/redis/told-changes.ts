// What the server of the shared texts is asked and what it answers: the changes since a revision, and the one step that makes
// changes. Texts are sealed before they come here; what a process makes of an answer is its copy's business.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AppError, toAppError } from '../../base/errors.ts';
import { NEWS, type AdminPlace, type SharedServer } from './admin-place.ts';
import { CHANGES, WRITE } from './admin-scripts.ts';

/** Most names: four for each of the organizations that are kept at most, and a few. */
const MAX_NAMES = 20_100;
/** Names that are gone and told of; whoever looked away for longer reads everything anew. */
const MAX_GONE = 2000;
/** Names read, and changes written, in one step: the server answers nobody else meanwhile. */
export const MAX_AT_ONCE = 200;

const answerOfChanges = z.tuple([z.string(), z.number(), z.number(), z.string(), z.number()]).rest(z.union([z.string(), z.number()]));
const answerOfWrite = z.union([
  z.tuple([z.literal(1), z.string(), z.number(), z.number()]),
  z.tuple([z.literal(0)]),
  z.tuple([z.literal(-1)]),
]);

/** Where they lie. */
export interface TextsPlace {
  readonly server: Pick<SharedServer, 'run'>;
  readonly place: AdminPlace;
}

/** One change as the server tells it. */
export interface ToldChange {
  readonly name: string;
  readonly revision: number;
  /** Empty: it is gone. */
  readonly sealed: string;
}

/** What the server answers when it is asked for changes. */
export interface ToldChanges {
  /** Tells a store that began anew from another one; empty while it lacks something that its owner knows, and before the first text. */
  readonly epoch: string;
  readonly revision: number;
  /** Names that went before this revision are not told any more. */
  readonly floor: number;
  /** Token of the last owner; empty for none. */
  readonly lastToken: string;
  /** The revision up to which the last owner knew everything when it began; -1 when there was none. */
  readonly from: number;
  readonly told: readonly ToldChange[];
}

/** @throws AppError `store_unavailable`; `store_failed` for an answer that is none. */
export async function askChanges({ server, place }: TextsPlace, since: number): Promise<ToldChanges> {
  const reply = await server.run(CHANGES, [place.texts, place.changes, place.state], [String(since), String(MAX_AT_ONCE)]);
  const read = answerOfChanges.safeParse(reply).data;
  if (read === undefined) throw anotherForm();
  const [epoch, revision, floor, lastToken, from, ...fields] = read;
  const told: ToldChange[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    told.push({ name: String(fields[at]), revision: Number(fields[at + 1]), sealed: String(fields[at + 2]) });
  }
  return { epoch, revision, floor, lastToken, from, told };
}

/** The changes of an answer and all after them. @throws as {@link askChanges}. */
export async function askFollowing(
  where: TextsPlace,
  first: ToldChanges,
): Promise<{ readonly told: readonly ToldChange[]; readonly last: ToldChanges }> {
  const told = [...first.told];
  let last = first;
  while (last.told.length === MAX_AT_ONCE) {
    last = await askChanges(where, last.told.at(-1)?.revision ?? 0);
    told.push(...last.told);
  }
  return { told, last };
}

/** Changes of an owner. */
export interface OwnerWrite {
  readonly token: string;
  /** The revision that the owner knows. */
  readonly revision: number;
  /** `part`, `last`: the server gets again what it had lost, and with the last of it has everything. */
  readonly use: '' | 'part' | 'last';
  /** At most {@link MAX_AT_ONCE}; an empty text takes the name away. */
  readonly changes: readonly Omit<ToldChange, 'revision'>[];
}

/** What became of them; `refused`: somebody else owns the texts by now. */
export type Written =
  { readonly kind: 'written'; readonly epoch: string; readonly before: number; readonly after: number } | { readonly kind: 'refused' };

/** Makes all of them or none. @throws AppError `store_failed`: most likely nothing is changed there. */
export async function writeChanges({ server, place }: TextsPlace, { token, revision, use, changes }: OwnerWrite): Promise<Written> {
  const bounds = [String(MAX_NAMES), String(MAX_GONE), String(revision), randomUUID(), use];
  const sealed = changes.flatMap((change) => [change.name, change.sealed]);
  const keys = [place.texts, place.changes, place.gone, place.state];
  const reply = await server.run(WRITE, keys, [token, ...bounds, place.news, NEWS.texts, ...sealed]).catch((thrown: unknown) => {
    throw new AppError('store_failed', 'the shared store cannot be written', { cause: toAppError(thrown, 'store_unavailable') });
  });
  const read = answerOfWrite.safeParse(reply).data;
  if (read === undefined) throw anotherForm();
  if (read[0] === 0) return { kind: 'refused' };
  if (read[0] === -1) throw new AppError('store_failed', `the shared store is full: it takes ${String(MAX_NAMES)} texts`);
  const [, epoch, before, after] = read;
  return { kind: 'written', epoch, before, after };
}

function anotherForm(): AppError {
  return new AppError('store_failed', 'the shared store answers in another form');
}
