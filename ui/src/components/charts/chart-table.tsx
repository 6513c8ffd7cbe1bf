import type { ReactNode } from 'react';

interface Props {
  label: string;
  heads: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Rows of a chart that are read aloud; more of them are thinned out. */
const maxRows = 120;

/** The numbers of a chart for screen readers. */
export function ChartTable({ label, heads, rows }: Props): ReactNode {
  const step = Math.max(1, Math.ceil(rows.length / maxRows));
  const shown = rows.filter((_, index) => index % step === 0 || index === rows.length - 1);
  return (
    // The size of a table follows its content, that of the box around it does not.
    <div className="sr-only">
      <table>
        <caption>{step > 1 ? `${label}, every ${step}th value` : label}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(([first, ...rest]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {rest.map((cell, place) => (
                <td key={heads[place + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
