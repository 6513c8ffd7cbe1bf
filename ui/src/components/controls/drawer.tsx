import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type ReactNode, useEffect, useId, useRef, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { Button } from './button.tsx';
import { isSingleKey } from './single-keys.ts';

export interface DrawerProps {
  title: ReactNode;
  /** Above the title: what the thing belongs to. */
  eyebrow?: ReactNode;
  /** Beside the title: tags, a state. */
  marks?: ReactNode;
  /** "2 of 20" */
  position?: string;
  onClose: () => void;
  /** Absent at the last row: the button is off. */
  onNext?: () => void;
  onPrevious?: () => void;
  children: ReactNode;
  /** Actions at the bottom. */
  footer?: ReactNode;
}

/**
 * Details of a row at the right of its table, which stays usable. Docked beside it from 1600 px, a page below 720 px.
 * `J` and `K` go to the next and the previous row, `Esc` closes, focus goes back to where it came from.
 */
export function Drawer(props: DrawerProps): ReactNode {
  const phone = useSyncExternalStore(subscribeWidth, isPhone);
  useDrawerKeys(props);
  return phone ? <PhonePage {...props} /> : createPortal(<SidePanel {...props} />, document.body);
}

const phoneWidth = window.matchMedia('(max-width: 719px)');

function isPhone(): boolean {
  return phoneWidth.matches;
}

function subscribeWidth(listener: () => void): () => void {
  phoneWidth.addEventListener('change', listener);
  return () => phoneWidth.removeEventListener('change', listener);
}

function useDrawerKeys(props: DrawerProps): void {
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let isCovered = false;
    // Before an overlay has seen the key and closed.
    const look = () => {
      isCovered = document.querySelector(overlays) !== null;
    };
    const press = (event: KeyboardEvent) => {
      const { onNext, onPrevious, onClose } = latest.current;
      if (isCovered) return;
      const key = isSingleKey(event) ? event.key.toLowerCase() : event.key;
      if (key === 'Escape' && !event.defaultPrevented) onClose();
      else if (key === 'j') onNext?.();
      else if (key === 'k') onPrevious?.();
    };
    document.addEventListener('keydown', look, true);
    document.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('keydown', look, true);
      document.removeEventListener('keydown', press);
    };
  }, []);
}

/** What takes keys before the drawer does; the drawer itself is a dialog on phones, and is not meant. */
const overlays = '[role=dialog]:not([data-phone-drawer]), [role=alertdialog], [role=menu], [role=listbox]';

function SidePanel(props: DrawerProps): ReactNode {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const origin = document.activeElement;
    const element = panel.current;
    element?.focus({ preventScroll: true });
    // Where it docks, the page makes room: see app.css.
    document.documentElement.dataset['drawer'] = 'open';
    return () => {
      delete document.documentElement.dataset['drawer'];
      const left = document.activeElement;
      if (
        origin instanceof HTMLElement &&
        (left === null || left === document.body || element?.contains(left))
      ) {
        origin.focus({ preventScroll: true });
      }
    };
  }, []);
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-labelledby={id}
      className="no-print fixed top-(--topbar) right-0 bottom-0 z-(--z-drawer) flex w-(--drawer) max-w-[calc(100vw-56px)] flex-col border-line border-l bg-surface-1 shadow-overlay outline-none transition-transform duration-(--motion) ease-(--ease) starting:translate-x-6 wide:shadow-none"
    >
      <Head
        {...props}
        title={
          <h2 id={id} className="font-semibold text-size-16 leading-6 [overflow-wrap:anywhere]">
            {props.title}
          </h2>
        }
      />
      <div className="min-h-0 flex-1 overflow-y-auto [--head-top:0px] px-6 py-4">{props.children}</div>
      <Foot {...props} />
    </aside>
  );
}

function PhonePage(props: DrawerProps): ReactNode {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <BaseDialog.Root
      open
      onOpenChange={(open) => {
        if (!open) props.onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Popup
          ref={popup}
          // Not the first button: its tooltip would cover what the reader came for.
          initialFocus={popup}
          data-phone-drawer
          className="fixed inset-0 z-(--z-drawer) flex flex-col bg-surface-1 outline-none"
        >
          <Head
            {...props}
            title={
              <BaseDialog.Title className="font-semibold text-size-16 leading-6 [overflow-wrap:anywhere]">
                {props.title}
              </BaseDialog.Title>
            }
          />
          <div className="min-h-0 flex-1 overflow-y-auto [--head-top:0px] px-4 py-3">{props.children}</div>
          <Foot {...props} />
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

function Head(props: DrawerProps): ReactNode {
  const { title, eyebrow, marks } = props;
  const name = (
    <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2.5 gap-y-1 pt-0.5">
      {title}
      {marks}
    </div>
  );
  return (
    <div className="border-line border-b px-4 py-3 tablet:px-6">
      <div className="flex items-start gap-2">
        {eyebrow === undefined ? (
          name
        ) : (
          <div className="min-w-0 flex-1 pt-1.5 text-size-12 text-text-2 [overflow-wrap:anywhere] [&_time]:whitespace-normal">
            {eyebrow}
          </div>
        )}
        <Moves {...props} />
      </div>
      {eyebrow === undefined ? null : name}
    </div>
  );
}

function Moves({ position, onNext, onPrevious, onClose }: DrawerProps): ReactNode {
  const moves = onNext !== undefined || onPrevious !== undefined || position !== undefined;
  return (
    <div className="-mr-2 flex flex-none items-center gap-1">
      {position === undefined ? null : (
        <span className="whitespace-nowrap pr-1 text-size-12 text-text-3">{position}</span>
      )}
      {moves ? (
        <>
          <Button
            variant="ghost"
            icon="up"
            label="Previous (K)"
            disabledReason={onPrevious === undefined && 'This is the first row'}
            onClick={onPrevious}
          />
          <Button
            variant="ghost"
            icon="arrow-down"
            label="Next (J)"
            disabledReason={onNext === undefined && 'This is the last row'}
            onClick={onNext}
          />
        </>
      ) : null}
      <Button variant="ghost" icon="x" label="Close (Esc)" onClick={onClose} />
    </div>
  );
}

function Foot({ footer }: DrawerProps): ReactNode {
  return footer === undefined ? null : (
    <div className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-3 tablet:px-6">
      {footer}
    </div>
  );
}
