import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactNode, useRef, useState } from 'react';
import { Note } from '../layout/note.tsx';
import { Button } from './button.tsx';

export interface ConfirmDialogProps {
  /** Default true: rendered only while it is open. */
  open?: boolean;
  /** Of what, with its number: "Delete 3 scans?" */
  title: string;
  /** What goes, in numbers, a whole sentence. */
  goes: ReactNode;
  /** What stays, a whole sentence. */
  stays?: ReactNode;
  /** On the button, with its object: "Delete 3 scans". */
  verb: string;
  /** Default "Keep". */
  keep?: string;
  /** It can be undone: "This cannot be undone." is left out, and the button is not red. */
  undoable?: boolean;
  /** The dialog stays open with the reason when it throws, and closes otherwise. */
  onConfirm: () => Promise<unknown> | void;
  onClose: () => void;
}

/** Asks once before something goes. Focus is on the button that keeps it. */
export function ConfirmDialog({
  open = true,
  title,
  goes,
  stays,
  verb,
  keep = 'Keep',
  undoable,
  onConfirm,
  onClose,
}: ConfirmDialogProps): ReactNode {
  const keepButton = useRef<HTMLButtonElement>(null);
  const [pending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const confirm = async () => {
    setPending(true);
    setProblem(null);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setPending(false);
    }
  };
  return (
    <AlertDialog.Root
      open={open}
      onOpenChange={(next) => {
        if (!next && !pending) onClose();
      }}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-(--z-dialog) bg-scrim" />
        <AlertDialog.Popup
          initialFocus={keepButton}
          className="fixed top-1/2 left-1/2 z-(--z-dialog) flex max-h-[calc(100dvh-32px)] w-[calc(100vw-24px)] max-w-[440px] -translate-x-1/2 -translate-y-1/2 flex-col gap-2 overflow-y-auto rounded-l bg-surface-overlay px-5 py-4 shadow-overlay outline-none forced-colors:border"
        >
          <AlertDialog.Title className="font-semibold text-size-14 [overflow-wrap:anywhere]">
            {title}
          </AlertDialog.Title>
          <AlertDialog.Description render={<div />} className="text-text-2 [overflow-wrap:anywhere]">
            {goes} {stays} {undoable ? null : 'This cannot be undone.'}
          </AlertDialog.Description>
          {problem === null ? null : <Note tone="problem">{problem}</Note>}
          <div className="mt-2 flex flex-wrap justify-end gap-2">
            <Button ref={keepButton} onClick={onClose}>
              {keep}
            </Button>
            <Button variant={undoable ? 'primary' : 'danger-primary'} pending={pending} onClick={confirm}>
              {verb}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
