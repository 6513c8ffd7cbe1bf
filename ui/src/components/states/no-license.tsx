import type { ReactNode } from 'react';
import { LinkButton } from '../controls/link-button.tsx';
import { Mono } from '../text/mono.tsx';
import { Blank } from './blank.tsx';
import { licenseFeatures } from './license-features.ts';

export interface NoLicenseProps {
  /** As the API names it, for example `jobs`. */
  feature: string;
}

/** The installation enforces licenses and has none for a feature. */
export function NoLicense({ feature }: NoLicenseProps): ReactNode {
  return (
    <Blank
      icon="key"
      title={`${wordsOf(feature)} need a license`}
      actions={<LinkButton to="/settings/license">Show license</LinkButton>}
    >
      This installation enforces licenses and has none for <Mono>{feature}</Mono>. Scans run as before.
    </Blank>
  );
}

/** A feature of a newer server by its name. */
function wordsOf(feature: string): string {
  const words: Record<string, string> = licenseFeatures;
  return Object.hasOwn(words, feature) ? (words[feature] as string) : feature;
}
