import { Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { TabLinks } from '../../components/controls/tab-links.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';

const tabs = [
  { to: '/settings', label: 'General' },
  { to: '/settings/tokens', label: 'Tokens' },
  { to: '/settings/configuration', label: 'Configuration' },
  { to: '/settings/license', label: 'License' },
] as const;

/** Settings of this browser, and what the service runs with. */
export default function SettingsPage(): ReactNode {
  const { pathname } = useLocation();
  const open = tabs.find(({ to }) => to === pathname);
  return (
    <>
      <PageHeader title="Settings" part={open?.label} />
      <TabLinks tabs={tabs} label="Parts of the settings" />
      <Outlet />
    </>
  );
}
