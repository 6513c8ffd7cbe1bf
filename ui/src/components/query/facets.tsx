import { type MouseEvent, type ReactNode, useState } from 'react';
import { count, shortCount } from '../../format/numbers.ts';
import { findingClasses, isSeverity, severities } from '../../format/words.ts';
import { Dialog } from '../controls/dialog.tsx';
import { SeverityMark } from '../marks/severity-mark.tsx';
import { useIsNarrow } from '../table/use-is-phone.ts';
import { facetHead, facetUnit, facetValueText } from './facet-words.ts';
import { clickValue, excludeValue, markOf } from './query-edit.ts';
import type { FacetsProps } from './query-props.ts';
import { type Facet, type FacetValue, useFacets } from './use-facets.ts';

const usualFields = ['severity', 'port', 'product', 'kev', 'os', 'device'];
/** Values per field, at first and after "more". */
const fewValues = 6;
const manyValues = 100;

/** Narrower windows have no room for the facets beside a table until somebody asks for them, CSS pixels. */
const roomFor = 1440;
const storageKey = 'portolan.facets';

/** Whether the facets are there. What the reader chose stays, where they stand beside the table. */
export function useFacetsOpen(): { isOpen: boolean; setOpen(open: boolean): void } {
  const isNarrow = useIsNarrow();
  const [isSheetOpen, setSheetOpen] = useState(false);
  const [chosen, setChosen] = useState(() => localStorage.getItem(storageKey));
  if (isNarrow) return { isOpen: isSheetOpen, setOpen: setSheetOpen };
  return {
    isOpen: chosen === null ? window.innerWidth >= roomFor : chosen === 'open',
    setOpen: (open) => {
      setChosen(open ? 'open' : 'folded');
      localStorage.setItem(storageKey, open ? 'open' : 'folded');
    },
  };
}

/**
 * Values of fields with their counts. A click adds a value to the query or takes it back, Alt-click excludes it. A
 * sheet where no room is beside the table.
 */
export function Facets({ onClose, ...props }: FacetsProps & { onClose(): void }): ReactNode {
  if (!useIsNarrow()) return <FacetList {...props} />;
  return (
    <Dialog title="Filter by value" onClose={onClose}>
      <FacetList {...props} />
    </Dialog>
  );
}

function FacetList({
  scanId,
  q,
  onChange,
  fields = usualFields,
  isPending,
  revision,
}: FacetsProps): ReactNode {
  const [counted, setCounted] = useState<string | null>(null);
  if (isPending !== true && counted !== q) setCounted(q);
  // The server computes one response after the other: that of the rows first.
  const { facets, error } = useFacets(scanId, q, {
    fields,
    limit: fewValues,
    revision,
    enabled: counted === q,
  });
  if (error !== null) {
    return <p className="text-size-12 text-text-2">The values cannot be counted now: {error.message}</p>;
  }
  return (
    <div className="flex flex-col gap-4" role="group" aria-label="Values to filter by">
      {facets === undefined
        ? fields.map((field) => <FacetHead key={field} field={field} />)
        : facets
            .filter(({ values }) => values.length > 0)
            .map((facet) => (
              <FacetView
                key={facet.field}
                facet={facet}
                scanId={scanId}
                q={q}
                onChange={onChange}
                revision={revision}
              />
            ))}
    </div>
  );
}

function FacetHead({ field }: { field: string }): ReactNode {
  return (
    <div className="flex items-baseline justify-between gap-2 pb-1 text-size-12 text-text-2">
      <h2 className="font-normal text-size-12">{facetHead(field)}</h2>
      <span className="pr-1.5 text-size-11 text-text-3">{facetUnit(field)}</span>
    </div>
  );
}

function FacetView({
  facet,
  scanId,
  q,
  onChange,
  revision,
}: Omit<FacetsProps, 'fields' | 'isPending'> & { facet: Facet }): ReactNode {
  const [isLong, setLong] = useState(false);
  const long = useFacets(scanId, q, { fields: [facet.field], limit: manyValues, revision, enabled: isLong });
  const { values: counted, more } =
    (isLong ? long.facets?.find(({ field }) => field === facet.field) : undefined) ?? facet;
  const values = inKnownOrder(facet.field, counted);
  const most = Math.max(1, ...values.map((each) => each.count));
  return (
    <section>
      <FacetHead field={facet.field} />
      <ul className="m-0 list-none p-0">
        {values.map((each) => (
          <li key={String(each.value)}>
            <ValueRow field={facet.field} {...each} share={each.count / most} q={q} onChange={onChange} />
          </li>
        ))}
      </ul>
      {(more > 0 || isLong) && (
        <button
          type="button"
          className="min-h-6 px-1.5 text-size-12 text-accent-text hover:underline max-tablet:min-h-11"
          aria-expanded={isLong}
          onClick={() => setLong(!isLong)}
        >
          {isLong ? 'Fewer' : more > 1 ? `${count(more)} more` : 'More'}
          <span className="sr-only"> values of {facetHead(facet.field)}</span>
        </button>
      )}
    </section>
  );
}

/** The worst and the surest first, whatever their counts: readers know these orders. */
const knownOrders: Partial<Record<string, readonly string[]>> = {
  severity: severities,
  class: findingClasses,
};

/** Values by their count, or in the order that readers know; rows without a value come last in it. */
function inKnownOrder(field: string, values: readonly FacetValue[]): readonly FacetValue[] {
  const order = knownOrders[field];
  if (order === undefined) return values;
  const rank = ({ value }: FacetValue) => {
    const place = order.indexOf(String(value));
    return place < 0 ? order.length : place;
  };
  return values.toSorted((a, b) => rank(a) - rank(b));
}

interface ValueProps extends FacetValue {
  field: string;
  /** Of the longest bar. */
  share: number;
  q: string;
  onChange(q: string): void;
}

function ValueRow({ field, value, count: number, share, q, onChange }: ValueProps): ReactNode {
  const state = markOf(q, field, value);
  const press = (event: MouseEvent) =>
    onChange(event.altKey ? excludeValue(q, field, value) : clickValue(q, field, value));
  const text = facetValueText(field, value);
  const look = state === 'added' ? 'bg-accent-soft' : 'hover:bg-surface-2';
  return (
    <button
      type="button"
      aria-pressed={state === 'added'}
      title={`${text}: ${count(number)}. Alt-click excludes`}
      className={`relative flex h-6 w-full items-center justify-between gap-2 px-1.5 text-left text-size-12 max-tablet:h-11 ${look}`}
      onClick={press}
      onKeyDown={(event) => {
        // Alt and Enter do not click in every browser.
        if (!event.altKey || event.key !== 'Enter') return;
        event.preventDefault();
        onChange(excludeValue(q, field, value));
      }}
    >
      <span
        className={`min-w-0 truncate ${state === 'excluded' ? 'text-text-3 line-through' : 'text-text-1'}`}
      >
        {field === 'severity' && typeof value === 'string' && isSeverity(value) ? (
          <SeverityMark severity={value} />
        ) : (
          <bdi>{text}</bdi>
        )}
        {state === 'excluded' && <span className="sr-only">, excluded</span>}
      </span>
      <span className={state === 'excluded' ? 'text-text-3 line-through' : 'text-text-2'}>
        {shortNumber(number)}
      </span>
      <span
        aria-hidden
        className={`absolute bottom-0 left-0 h-0.5 ${state === 'added' ? 'bg-accent' : 'bg-line'}`}
        style={{ width: `${Math.max(share * 100, number > 0 ? 1 : 0)}%` }}
      />
    </button>
  );
}

/** In full up to five digits. */
function shortNumber(number: number): string {
  return number < 100_000 ? count(number) : shortCount(number);
}
