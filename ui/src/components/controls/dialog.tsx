import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type ReactNode, type RefObject, useRef } from 'react';
import { Button } from './button.tsx';

export interface DialogProps {
  /** Default true: rendered only while it is open. */
  open?: boolean;
  onClose: () => void;
  title: ReactNode;
  /** Under the title. */
  note?: ReactNode;
  children: ReactNode;
  /** Buttons, the one that does it last. */
  footer?: ReactNode;
  /** 440, 680 or 920 px; the whole screen on phones. */
  size?: 'small' | 'normal' | 'large';
  /** Default: the first field within, else the last button. */
  initialFocus?: RefObject<HTMLElement | null>;
  /** A press beside it does not close it: something was typed. */
  sticky?: boolean;
}

const fields = 'input:not([disabled]), textarea, select, [role=combobox]';

const widths = { small: 'max-w-[440px]', normal: 'max-w-[680px]', large: 'max-w-[920px]' } as const;

/** A modal dialog: focus stays within, `Esc` closes, focus goes back to where it came from. */
export function Dialog({
  open = true,
  onClose,
  title,
  note,
  children,
  footer,
  size = 'small',
  initialFocus,
  sticky,
}: DialogProps): ReactNode {
  const popup = useRef<HTMLDivElement>(null);
  const firstField = () =>
    popup.current?.querySelector<HTMLElement>(fields) ??
    popup.current?.querySelector<HTMLElement>('[data-footer] > :last-child') ??
    true;
  return (
    <BaseDialog.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
      disablePointerDismissal={sticky ?? false}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-(--z-dialog) bg-scrim" />
        <BaseDialog.Popup
          ref={popup}
          initialFocus={initialFocus ?? firstField}
          className={`fixed top-1/2 left-1/2 z-(--z-dialog) flex max-h-[calc(100dvh-32px)] w-[calc(100vw-24px)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-l bg-surface-overlay shadow-overlay outline-none forced-colors:border ${widths[size]}`}
        >
          <div className="flex items-start gap-3 px-5 pt-4">
            <div className="min-w-0 flex-1">
              <BaseDialog.Title className="font-semibold text-size-16 leading-6 [overflow-wrap:anywhere]">
                {title}
              </BaseDialog.Title>
              {note === undefined ? null : (
                <BaseDialog.Description className="mt-1 text-text-2">{note}</BaseDialog.Description>
              )}
            </div>
            <BaseDialog.Close render={<Button variant="ghost" icon="x" label="Close" />} />
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto [--head-top:0px] px-5 py-4">{children}</div>
          {footer === undefined ? null : (
            <div data-footer className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3">
              {footer}
            </div>
          )}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
