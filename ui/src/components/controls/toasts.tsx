import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Icon } from '../icons/icon.tsx';

export interface ToastOptions {
  /** `problem` stays until it is closed, `running` until the function that `toast` returns is called. */
  tone?: 'done' | 'problem' | 'running';
  /** One action, for example "Undo" or "Show". */
  action?: { label: string; onSelect: () => void };
}

interface Shown extends ToastOptions {
  id: number;
  text: string;
}

/** Time on screen, milliseconds; it stops while pointer or focus are on it. */
const lifetime = 6000;
/** More at once would cover the page. */
const atOnce = 3;

let shown: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Says in one sentence what has just happened, away from where it was asked for. @returns what takes it away */
export function toast(text: string, options: ToastOptions = {}): () => void {
  lastId += 1;
  const id = lastId;
  change([...shown, { id, text, ...options }].slice(-atOnce));
  return () => close(id);
}

/** Where toasts appear; once per app. */
export function Toasts(): ReactNode {
  const all = useSyncExternalStore(subscribe, () => shown);
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      className="no-print pointer-events-none fixed right-0 bottom-0 z-(--z-toast) flex w-full max-w-[392px] flex-col gap-2 p-4"
    >
      {all.map((each) => (
        <Toast key={each.id} toast={each} />
      ))}
    </section>
  );
}

const marks = {
  done: { name: 'state-completed', color: 'text-state-completed' },
  problem: { name: 'state-failed', color: 'text-state-failed' },
  running: { name: 'state-running', color: 'text-accent' },
} as const;

function Toast({ toast: { id, text, tone = 'done', action } }: { toast: Shown }): ReactNode {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held || tone !== 'done') return;
    const timer = setTimeout(() => close(id), lifetime);
    return () => clearTimeout(timer);
  }, [held, id, tone]);
  return (
    <div
      className="pointer-events-auto flex items-start gap-2 rounded-l bg-surface-overlay px-3 py-2.5 shadow-overlay forced-colors:border"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={marks[tone].name} className={`mt-px ${marks[tone].color}`} />
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">{text}</p>
      {action === undefined ? null : (
        <button
          type="button"
          className="flex-none font-medium text-accent-text hover:underline"
          onClick={() => {
            action.onSelect();
            close(id);
          }}
        >
          {action.label}
        </button>
      )}
      <button
        type="button"
        aria-label="Close message"
        className="-m-1 inline-flex size-6 flex-none items-center justify-center rounded-s text-text-3 hover:text-text-1"
        onClick={() => close(id)}
      >
        <Icon name="x" size={14} />
      </button>
    </div>
  );
}

function close(id: number): void {
  change(shown.filter((each) => each.id !== id));
}

function change(next: readonly Shown[]): void {
  shown = next;
  for (const listener of listeners) {
    listener();
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
