import { Menu } from '@base-ui/react/menu';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useSearchParam } from '../../url/use-search-param.ts';
import { toast } from '../controls/toasts.tsx';
import { Icon, type IconName } from '../icons/icon.tsx';
import { copyText } from '../text/copy-text.ts';
import { TargetText } from '../text/target-text.tsx';
import { facetHead, facetValueText } from './facet-words.ts';
import { clickValue, excludeValue, type FieldValue, markOf } from './query-edit.ts';
import type { ValueMenuProps } from './query-props.ts';

/**
 * A value that can be added to the filter, excluded from it, or copied: by the button behind it, which shows as the
 * pointer or the focus is there, so that a press on the value itself still opens its row; until then it leaves its room
 * to a long value. Tables hold hundreds of them: the menu exists only while it is open.
 */
export function ValueMenu({ field, value, param = 'q', children }: ValueMenuProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const shown = facetValueText(field, value);
  return (
    <span className="group/value inline-flex min-w-0 max-w-full items-center">
      <span className="min-w-0 truncate">{children ?? <TargetText text={shown} />}</span>
      <button
        ref={button}
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={`Filter by ${facetHead(field).toLowerCase()} ${shown.slice(0, maxNamed)}`}
        className={`no-print flex h-6 w-6 items-center justify-center overflow-hidden rounded-s text-text-3 hover:bg-surface-3 hover:text-text-1 focus-visible:shrink-0 focus-visible:opacity-100 group-hover/row:opacity-100 group-hover/value:shrink-0 group-hover/value:opacity-100 pointer-coarse:shrink-0 pointer-coarse:opacity-100 ${isOpen ? 'shrink-0' : 'min-w-0 shrink-[999] opacity-0'}`}
        onClick={() => setOpen(true)}
      >
        <Icon name="filter" size={14} />
      </button>
      {isOpen && (
        <OpenMenu field={field} value={value} param={param} anchor={button} onClose={() => setOpen(false)} />
      )}
    </span>
  );
}

/** Characters of a value in the name of its button. */
const maxNamed = 60;

interface OpenProps {
  field: string;
  value: FieldValue;
  param: string;
  anchor: RefObject<HTMLButtonElement | null>;
  onClose(): void;
}

function OpenMenu({ field, value, param, anchor, onClose }: OpenProps): ReactNode {
  const [q, setQ] = useSearchParam(param);
  const state = markOf(q, field, value);
  const shown = facetValueText(field, value);
  const copy = () => {
    copyText(String(value)).then(
      () => toast('Copied'),
      () => toast('The browser did not allow copying', { tone: 'problem' }),
    );
  };
  return (
    <Menu.Root open modal={false} onOpenChange={(open) => !open && onClose()}>
      <Menu.Portal container={document.querySelector<HTMLElement>('main') ?? undefined}>
        <Menu.Positioner
          anchor={anchor}
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-(--z-overlay) outline-none"
        >
          <Menu.Popup
            aria-label={`${facetHead(field)} ${shown}`}
            finalFocus={anchor}
            className="min-w-44 rounded-l bg-surface-overlay p-1 shadow-overlay outline-none forced-colors:border"
          >
            <Item
              icon="filter"
              label={state === 'added' ? 'Remove from the filter' : 'Only this value'}
              onSelect={() => setQ(clickValue(q, field, value))}
            />
            <Item
              icon="x"
              label={state === 'excluded' ? 'Exclude no more' : 'Exclude this value'}
              onSelect={() => setQ(excludeValue(q, field, value))}
            />
            {value !== null && <Item icon="copy" label="Copy" onSelect={copy} />}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Item({ icon, label, onSelect }: { icon: IconName; label: string; onSelect(): void }): ReactNode {
  return (
    <Menu.Item
      className="flex min-h-(--row-dense) cursor-default items-center gap-2 rounded-m px-2 py-1 text-text-2 outline-none data-highlighted:bg-surface-2 data-highlighted:text-text-1 forced-colors:data-highlighted:outline-2 pointer-coarse:min-h-(--row-touch)"
      onClick={onSelect}
    >
      <Icon name={icon} />
      {label}
    </Menu.Item>
  );
}
