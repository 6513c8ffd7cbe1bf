import { type ReactNode, useId } from 'react';
import { Link } from '../../url/link.tsx';

export interface SectionProps {
  title: ReactNode;
  /** Beside the title, in secondary text. */
  note?: ReactNode;
  /** At the right: where all of it is. */
  link?: { label: string; to: string };
  /** At the right, in place of a link: buttons. */
  actions?: ReactNode;
  /** Under an `h2`; 3 within a drawer's section. */
  level?: 2 | 3;
  children: ReactNode;
  className?: string;
}

/** A region of a page: head, hairline, content. */
export function Section({
  title,
  note,
  link,
  actions,
  level = 2,
  children,
  className = '',
}: SectionProps): ReactNode {
  const id = useId();
  const Heading = level === 2 ? 'h2' : 'h3';
  return (
    <section aria-labelledby={id} className={`min-w-0 ${className}`}>
      <div className="flex flex-wrap items-baseline gap-x-2 border-line border-b pb-1.5">
        <Heading id={id} className="font-semibold text-size-13 leading-5">
          {title}
        </Heading>
        {note === undefined ? null : <span className="text-size-12 text-text-3">{note}</span>}
        {link === undefined ? null : (
          <Link to={link.to} className="no-print ml-auto inline-flex min-h-6 items-center text-size-12">
            {link.label}
          </Link>
        )}
        {actions === undefined ? null : <div className="no-print ml-auto flex gap-2">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
