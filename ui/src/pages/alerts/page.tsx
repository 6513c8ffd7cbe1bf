import { Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { TabLinks } from '../../components/controls/tab-links.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';

const tabs = [
  { to: '/alerts', label: 'Rules' },
  { to: '/alerts/channels', label: 'Notification channels' },
] as const;

/** Rules that watch the service, and where their notices go. */
export default function AlertsPage(): ReactNode {
  const { pathname } = useLocation();
  const open = tabs.find(({ to }) => to === pathname);
  return (
    <>
      <PageHeader title="Alerts" part={open?.label} />
      <TabLinks tabs={tabs} label="Parts of the alerts" />
      <Outlet />
    </>
  );
}
