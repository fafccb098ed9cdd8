// Opens the traces of calls, if they are configured.
import { packageVersion } from '../base/package-root.ts';
import { CallTraces } from '../telemetry/traces/call-traces.ts';
import { openSpanExport } from '../telemetry/traces/span-export.ts';
import type { Settings } from './config/settings.ts';
import type { ProcessParts } from './process-parts.ts';

/** @returns undefined when calls are not traced. @throws AppError as {@link openSpanExport}. */
export async function openTraces(
  { traces: { endpoint, share, content } }: Pick<Settings, 'traces'>,
  { instanceId, clock, log, lifecycle }: ProcessParts & { readonly instanceId: string },
): Promise<CallTraces | undefined> {
  if (endpoint === undefined) return undefined;
  const spans = await openSpanExport({ endpoint, instanceId, version: packageVersion(), clock, log });
  lifecycle.opened('traces', () => spans.close());
  return new CallTraces({ clock, share, hasContent: content, write: spans.write });
}
