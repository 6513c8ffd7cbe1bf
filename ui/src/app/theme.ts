import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const key = 'portolan.theme';
const listeners = new Set<() => void>();

function stored(): Theme {
  const text = localStorage.getItem(key);
  return text === 'light' || text === 'dark' ? text : 'system';
}

/** Follows the system unless the reader chose otherwise. */
export function applyTheme(theme = stored()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  applyTheme(theme);
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, stored);
}
