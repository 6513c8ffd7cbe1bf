const storageKey = 'portolan.keys';

/** Whether single letters do something outside of fields; some people press them by voice or by accident. */
export function singleKeysOn(): boolean {
  return localStorage.getItem(storageKey) !== 'off';
}

export function setSingleKeys(on: boolean): void {
  if (on) {
    localStorage.removeItem(storageKey);
  } else {
    localStorage.setItem(storageKey, 'off');
  }
}

/** A single letter without modifiers, pressed outside of fields and dialogs, while single letters are on. */
export function isSingleKey(event: KeyboardEvent): boolean {
  const modified = event.ctrlKey || event.metaKey || event.altKey;
  return (
    event.key.length === 1 &&
    !modified &&
    !event.defaultPrevented &&
    singleKeysOn() &&
    !isTyping(event.target)
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest(
      'input:not([type=checkbox],[type=radio]), textarea, select, [contenteditable], [role=menu], [role=listbox], [role=alertdialog]',
    ) !== null
  );
}
