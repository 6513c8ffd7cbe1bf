/** What a reader can do on the open page, for the palette. */
export interface PageAction {
  label: string;
  run: () => void;
}

type Offer = () => readonly PageAction[];

const offers = new Set<Offer>();

/** A menu tells its actions, which are in no button before it is open. @returns what takes them back */
export function offerActions(offer: Offer): () => void {
  offers.add(offer);
  return () => offers.delete(offer);
}

/** The buttons and links beside the title of the page, then what its menus have. */
export function pageActions(): PageAction[] {
  const beside = document.querySelectorAll<HTMLElement>('main header :is(button, a)');
  const buttons = [...beside]
    .filter((element) => !element.matches('[aria-haspopup], [aria-disabled=true], :disabled'))
    .map((element) => ({ label: wordsOf(element), run: () => element.click() }));
  return [...buttons, ...[...offers].flatMap((offer) => offer())].filter(({ label }) => label !== '');
}

/** Without the keys that stand in a button. */
function wordsOf(element: HTMLElement): string {
  const copy = element.cloneNode(true) as HTMLElement;
  for (const key of copy.querySelectorAll('kbd')) key.remove();
  return (element.getAttribute('aria-label') ?? copy.textContent).trim();
}
