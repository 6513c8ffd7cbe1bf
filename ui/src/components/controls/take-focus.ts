/**
 * `ref` of the field that a page begins with. In place of `autoFocus`, which takes the focus from an open dialog when the
 * page arrives after it.
 */
export function takeFocus(field: HTMLElement | null): void {
  const dialog = document.querySelector('[role="dialog"][data-open], [role="alertdialog"][data-open]');
  if (dialog === null || dialog.contains(field)) field?.focus();
}
