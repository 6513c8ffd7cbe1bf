import type { ReactNode } from 'react';
import { capitalized } from '../../format/words.ts';
import { LinkButton } from '../controls/link-button.tsx';
import { Mono } from '../text/mono.tsx';
import { Blank } from './blank.tsx';

export interface NoLicenseProps {
  /** As the API names it, for example `jobs`. */
  feature: string;
}

/** The installation enforces licenses and has none for a feature. */
export function NoLicense({ feature }: NoLicenseProps): ReactNode {
  return (
    <Blank
      icon="key"
      title={`${capitalized(feature.replaceAll('_', ' '))} need a license`}
      actions={<LinkButton to="/settings/license">Show license</LinkButton>}
    >
      This installation enforces licenses and has none for <Mono>{feature}</Mono>. Scans run as before.
    </Blank>
  );
}
