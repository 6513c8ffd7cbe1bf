import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useRef } from 'react';
import { isSingleKey, setSingleKeys, singleKeysOn } from '../../components/controls/single-keys.ts';
import { useGo } from '../../url/link.tsx';
import { pages } from '../pages.ts';

interface Openers {
  openPalette: () => void;
  openHelp: () => void;
}

/** The second key of a page counts this long after `g`, milliseconds. */
const sequenceMs = 1500;

/** Keys that work on every page, outside of fields. */
export function usePageKeys(openers: Openers): void {
  const go = useGo();
  const latest = useRef({ go, ...openers });
  latest.current = { go, ...openers };
  useEffect(() => {
    let goSince = 0;
    const press = (event: KeyboardEvent) => {
      const { go, openPalette, openHelp } = latest.current;
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && key === 'k') {
        event.preventDefault();
        return openPalette();
      }
      if (!isSingleKey(event)) return;
      const page = pages.find((each) => each.key === key);
      if (Date.now() - goSince < sequenceMs && page) go(page.path);
      else if (key === '?') openHelp();
      else if (key === 'n') go('/scans/new');
      else if (key === '/') focusFilter(event);
      goSince = key === 'g' ? Date.now() : 0;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLElement>('[data-filter]');
  if (!filter) return;
  event.preventDefault();
  filter.focus();
}

const fixedKeys: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Search or run'],
  ['/', 'Filter'],
  ['N', 'New scan'],
  ['?', 'Keys'],
  ['↑ ↓', 'Rows of a table'],
  ['Space', 'Select a row'],
  ['Enter', 'Open a row'],
  ['→ ←', 'Unfold, fold'],
  ['F2', "Menus of a row's values"],
  ['J K', 'Next, previous in a drawer'],
  ['Y', 'Copy the link'],
  ['Esc', 'Back'],
  ['F8', 'Next problem in the editor'],
  ['Ctrl S', 'Save in the editor'],
];

export function KeyHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const ofPages = pages.flatMap(({ key, title }) =>
    key ? [[`G ${key.toUpperCase()}`, title] as const] : [],
  );
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Popup className="fixed top-[10vh] left-1/2 z-40 max-h-[80vh] w-[min(480px,calc(100vw-32px))] -translate-x-1/2 overflow-y-auto rounded-l bg-surface-overlay p-6 shadow-overlay">
          <Dialog.Title className="pb-3 text-size-16 font-semibold">Keys</Dialog.Title>
          <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
            {[...fixedKeys, ...ofPages].map(([keys, words]) => (
              <div key={keys} className="contents">
                <dt className="mono whitespace-nowrap text-text-2">{keys}</dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
          <label className="flex items-center gap-2 pt-4 text-text-2">
            <input
              type="checkbox"
              defaultChecked={singleKeysOn()}
              onChange={({ target }) => setSingleKeys(target.checked)}
            />
            Single-letter keys
          </label>
          <Dialog.Close className="mt-4 h-[30px] rounded-m border border-line-strong px-3 font-medium">
            Close
          </Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
