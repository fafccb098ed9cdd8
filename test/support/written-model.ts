// The stream of a provider for one answer that is written down.

/** @param given - words, or a use of a tool. */
export async function* parts(given: string | { readonly use: string; readonly input?: object }): AsyncGenerator<object> {
  await Promise.resolve();
  if (typeof given === 'string') yield { type: 'text-delta', id: '0', delta: given };
  else yield { type: 'tool-call', toolCallId: given.use, toolName: given.use, input: JSON.stringify(given.input ?? {}) };
  yield { type: 'finish', finishReason: { unified: 'stop' }, usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } } };
}
