interface Offer<E> {
  event: E;
  taken: () => void;
}

/**
 * Merges sources for one reader, in turn. A source waits until its event was taken: each stays at the speed of the
 * reader, and nothing accumulates.
 *
 * @param sources end soon after `stop` was aborted
 * @param stop aborted when the reader leaves
 */
export async function* mergedEvents<E>(
  sources: readonly AsyncIterable<E>[],
  stop: AbortController,
): AsyncGenerator<E> {
  const offers: Offer<E>[] = [];
  let fault: { error: unknown } | null = null;
  let open = sources.length;
  let wake = () => {};
  let taken = () => {};
  const read = async (source: AsyncIterable<E>) => {
    for await (const event of source) {
      if (stop.signal.aborted) return;
      await new Promise<void>((resolve) => {
        offers.push({ event, taken: resolve });
        wake();
      });
    }
  };
  const reading = sources.map((source) =>
    read(source)
      .catch((error: unknown) => {
        fault ??= { error };
      })
      .finally(() => {
        open -= 1;
        wake();
      }),
  );
  try {
    for (;;) {
      const offer = offers.shift();
      if (offer) {
        taken = offer.taken;
        yield offer.event;
        offer.taken();
        continue;
      }
      if (fault) throw (fault as { error: unknown }).error;
      if (open === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop.abort();
    taken();
    for (const offer of offers) offer.taken();
    await Promise.all(reading);
  }
}
