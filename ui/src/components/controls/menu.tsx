import { Menu as BaseMenu } from '@base-ui/react/menu';
import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { useGo } from '../../url/link.tsx';
import { Icon, type IconName } from '../icons/icon.tsx';
import { type ButtonSize, type ButtonVariant, buttonLook } from './button-look.ts';
import { offerActions, type PageAction } from './page-actions.ts';

export interface MenuAction {
  label: ReactNode;
  icon?: IconName;
  onSelect?: () => void;
  /** Path of a page, in place of `onSelect`. */
  to?: string;
  /** At the right: a key, a count. */
  note?: ReactNode;
  /** A mark stands before it while true; the menu stays open. */
  checked?: boolean;
  danger?: boolean;
  /** Why it does nothing now, shown under the label. */
  disabledReason?: string | null | false;
}

/** `null` is a line between groups. */
export type MenuItem = MenuAction | { heading: string } | null;

export interface MenuProps {
  items: readonly MenuItem[];
  /** Name of the button: "More actions for this scan". */
  label: string;
  /** Words of the button, with a small arrow behind them; without them the icon stands alone. */
  children?: ReactNode;
  /** The label as words of the button. */
  wordy?: boolean;
  icon?: IconName;
  variant?: ButtonVariant;
  size?: ButtonSize;
  align?: 'start' | 'end';
  /** In place of the button: any element that takes a ref and props of a button. */
  trigger?: ReactElement;
}

/** A button that opens a list of actions. */
export function Menu({
  items,
  label,
  wordy,
  children = wordy ? label : undefined,
  icon = children === undefined ? 'more' : undefined,
  variant = 'default',
  size = 'normal',
  align = 'end',
  trigger,
}: MenuProps): ReactNode {
  const alone = children === undefined;
  useOffered(items);
  return (
    <BaseMenu.Root>
      {trigger === undefined ? (
        <BaseMenu.Trigger
          aria-label={label}
          title={alone ? label : undefined}
          className={`${buttonLook({ variant, size, alone, off: false })} data-popup-open:bg-surface-3`}
        >
          {icon === undefined ? null : <Icon name={icon} size={size === 'small' ? 14 : 16} />}
          {children}
          {alone ? null : <Icon name="down" size={14} />}
        </BaseMenu.Trigger>
      ) : (
        <BaseMenu.Trigger aria-label={label} render={trigger} />
      )}
      <BaseMenu.Portal container={document.querySelector<HTMLElement>('main') ?? undefined}>
        <BaseMenu.Positioner
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-(--z-overlay) outline-none"
        >
          <BaseMenu.Popup className="max-h-(--available-height) min-w-[176px] max-w-[360px] overflow-y-auto rounded-l bg-surface-overlay p-1 shadow-overlay outline-none forced-colors:border">
            {items.map((item, index) => (
              <Row key={index} item={item} />
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

/** The palette has the actions too. What is checked is a view, not an action. */
function useOffered(items: readonly MenuItem[]): void {
  const go = useGo();
  const latest = useRef<readonly PageAction[]>([]);
  latest.current = items.flatMap((item) => {
    if (item === null || 'heading' in item || typeof item.label !== 'string') return [];
    const { label, to, onSelect, checked } = item;
    if (checked !== undefined || item.disabledReason) return [];
    return [{ label, run: () => (to === undefined ? onSelect?.() : go(to)) }];
  });
  useEffect(() => offerActions(() => latest.current), []);
}

const rowLook =
  'flex min-h-(--row-dense) cursor-default select-none items-center gap-2 rounded-m px-2 py-1 outline-none data-highlighted:bg-surface-2 data-highlighted:text-text-1 forced-colors:data-highlighted:outline-2 pointer-coarse:min-h-(--row-touch)';

function Row({ item }: { item: MenuItem }): ReactNode {
  const go = useGo();
  if (item === null) return <BaseMenu.Separator className="mx-1 my-1 h-px bg-line" />;
  if ('heading' in item) {
    return (
      <div className="px-2 pt-1.5 pb-0.5 text-size-11 text-text-3" role="presentation">
        {item.heading}
      </div>
    );
  }
  const { icon, label, note, danger, checked, to, onSelect } = item;
  const reason = item.disabledReason || null;
  const color = reason !== null ? 'text-text-3' : danger ? 'text-state-failed' : 'text-text-2';
  const content = (
    <>
      {icon === undefined ? null : <Icon name={icon} />}
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {label}
        {reason === null ? null : <span className="block text-size-11 text-text-3">{reason}</span>}
      </span>
      {note === undefined ? null : <span className="flex-none text-size-11 text-text-3">{note}</span>}
    </>
  );
  if (checked !== undefined) {
    return (
      <BaseMenu.CheckboxItem
        checked={checked}
        disabled={reason !== null}
        closeOnClick={false}
        onCheckedChange={() => onSelect?.()}
        className={`${rowLook} ${color}`}
      >
        <span className="flex size-4 flex-none">
          <BaseMenu.CheckboxItemIndicator>
            <Icon name="check" className="text-accent-text" />
          </BaseMenu.CheckboxItemIndicator>
        </span>
        {content}
      </BaseMenu.CheckboxItem>
    );
  }
  return (
    <BaseMenu.Item
      disabled={reason !== null}
      onClick={() => (to === undefined ? onSelect?.() : go(to))}
      className={`${rowLook} ${color}`}
    >
      {content}
    </BaseMenu.Item>
  );
}
