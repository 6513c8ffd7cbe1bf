const groups = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `action` once when the signal aborts; returns a function that unsubscribes. Thousands of probes may watch one
 * signal: they share one listener, so each costs only a set entry. Never calls before it returns.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    let wanted = true;
    queueMicrotask(() => {
      if (wanted) action();
    });
    return () => {
      wanted = false;
    };
  }
  let group = groups.get(signal);
  if (!group) {
    const actions = new Set<() => void>();
    group = actions;
    groups.set(signal, actions);
    signal.addEventListener(
      'abort',
      () => {
        for (const each of actions) each();
        actions.clear();
      },
      { once: true },
    );
  }
  const own = () => action();
  group.add(own);
  return () => {
    group.delete(own);
  };
}

/** The value of a promise, unless the signal aborts first. @throws the reason of the abort */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(forget);
  });
}

/** Waits, or returns early when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, milliseconds);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
