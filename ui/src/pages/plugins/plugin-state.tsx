import type { ReactNode } from 'react';
import { StateMark } from '../../components/marks/state-mark.tsx';
import type { PluginRow } from './plugin-words.ts';

/** Whether scans can use a plugin. */
export function PluginState({ plugin: { loaded, error, disabled } }: { plugin: PluginRow }): ReactNode {
  if (error !== null) return <StateMark state="failed" word="Not loaded" />;
  if (disabled) return <StateMark state="skipped" word="Disabled" />;
  return loaded ? (
    <StateMark state="completed" word="Loaded" />
  ) : (
    <StateMark state="skipped" word="Not loaded" />
  );
}
