// Stands for a language model that writes its answer word by word.

/** The answer to what a caller said. Stops when the signal aborts. */
export async function* written(question: string, signal: AbortSignal): AsyncGenerator<string> {
  // In earnest: for await (const part of streamText({ model, prompt: question, abortSignal: signal }).textStream) yield part;
  const answer = `You asked about ${question}. We are open from nine to five, every day but Sunday. Is there anything else?`;
  for (const word of answer.split(/(?<= )/u)) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    signal.throwIfAborted();
    yield word;
  }
}
