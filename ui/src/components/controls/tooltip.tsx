import { Tooltip as BaseTooltip } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';

export interface TooltipProps {
  /** Never the only place of what must be known: touch screens show it on press alone. */
  text: ReactNode;
  /** Shows nothing. Leaving the tooltip away instead would make a new element of its child, which loses the focus. */
  isOff?: boolean;
  /** One element that can be focused. */
  children: ReactElement;
  side?: 'top' | 'bottom' | 'left' | 'right';
}

/** Text on hover and focus. */
export function Tooltip({ text, isOff = false, children, side = 'top' }: TooltipProps): ReactNode {
  return (
    <BaseTooltip.Root disabled={isOff}>
      <BaseTooltip.Trigger render={children} delay={400} closeOnClick={false} />
      {/* Within a landmark: readers of landmarks find it there. */}
      <BaseTooltip.Portal container={document.querySelector<HTMLElement>('main') ?? undefined}>
        <BaseTooltip.Positioner side={side} sideOffset={6} collisionPadding={8} className="z-(--z-tooltip)">
          <BaseTooltip.Popup className="max-w-[320px] rounded-m bg-surface-inverse px-2 py-1 text-size-12 text-text-inverse shadow-overlay [overflow-wrap:anywhere] forced-colors:border">
            {text}
          </BaseTooltip.Popup>
        </BaseTooltip.Positioner>
      </BaseTooltip.Portal>
    </BaseTooltip.Root>
  );
}
