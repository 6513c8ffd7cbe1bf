import { Fragment, type ReactNode } from 'react';

/** Ports as they were written, `22,80,U:53`; lines break between ports, not within a number. */
export function PortList({ text }: { text: string }): ReactNode {
  return (
    <bdi className="mono">
      {text.split(',').map((port, index) => (
        <Fragment key={index}>
          {index === 0 ? null : (
            <>
              ,<wbr />
            </>
          )}
          {port}
        </Fragment>
      ))}
    </bdi>
  );
}
