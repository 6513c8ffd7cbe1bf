import type { ReactNode } from 'react';
import { capitalized, type State } from '../../format/words.ts';
import { Icon, type IconName } from '../icons/icon.tsx';

export interface StateMarkProps {
  /** See `shownState` of format/words.ts: canceled and interrupted are no states of their own in the API. */
  state: State;
  /** Who paused or canceled: "Paused by ops-laptop". */
  by?: string;
  /** In place of the state's own word, for example "Healthy". */
  word?: string;
  /** The icon alone, its word for screen readers and as tooltip. */
  bare?: boolean;
}

const looks: Record<State, { icon: IconName; color: string }> = {
  pending: { icon: 'state-pending', color: 'text-state-pending' },
  running: { icon: 'state-running', color: 'text-state-running' },
  paused: { icon: 'state-paused', color: 'text-state-paused' },
  completed: { icon: 'state-completed', color: 'text-state-completed' },
  failed: { icon: 'state-failed', color: 'text-state-failed' },
  'timed out': { icon: 'state-failed', color: 'text-state-failed' },
  interrupted: { icon: 'state-interrupted', color: 'text-state-interrupted' },
  canceled: { icon: 'state-canceled', color: 'text-state-pending' },
  skipped: { icon: 'state-skipped', color: 'text-state-pending' },
};

/**
 * Icon and word of a state. The mark of what runs turns, but not with reduced motion. The word gives the baseline: that of
 * the icon would raise the mark beside other text.
 */
export function StateMark({ state, by, word, bare }: StateMarkProps): ReactNode {
  const { icon, color } = looks[state];
  const text = word ?? capitalized(state);
  const spin = state === 'running' ? 'motion-safe:animate-[spin_1.6s_linear_infinite]' : '';
  return (
    <span
      className={`inline-flex items-center gap-1.5 whitespace-nowrap font-medium ${color}`}
      title={bare ? text : undefined}
    >
      <Icon name={icon} className={spin} />
      <span className={bare ? 'sr-only' : 'self-baseline'}>{text}</span>
      {by === undefined || bare ? null : (
        <span className="self-baseline font-normal text-text-3">by {by}</span>
      )}
    </span>
  );
}
