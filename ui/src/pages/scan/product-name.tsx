import type { ReactNode } from 'react';
import { ValueMenu } from '../../components/query/value-menu.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import type { PortRecord } from './record-types.ts';

/** What runs at a port, with its version. */
export function ProductName({ record: { service } }: { record: PortRecord }): ReactNode {
  if (!service?.product) return <NotRecognized />;
  return (
    <>
      <TargetText text={service.product} />{' '}
      {service.version && (
        <span className="text-text-2">
          <TargetText text={service.version} />
        </span>
      )}
    </>
  );
}

/** The same, each value with its menu. */
export function ProductMenus({ record: { service } }: { record: PortRecord }): ReactNode {
  const { product, version } = service ?? {};
  return (
    <span className="flex min-w-0 items-center gap-1">
      <ValueMenu field="product" value={product ?? null}>
        {product ? <TargetText text={product} /> : <NotRecognized />}
      </ValueMenu>
      {product && version && (
        <ValueMenu field="version" value={version}>
          <span className="text-text-2">
            <TargetText text={version} />
          </span>
        </ValueMenu>
      )}
    </span>
  );
}

function NotRecognized(): ReactNode {
  return <span className="text-text-3">not recognized</span>;
}
