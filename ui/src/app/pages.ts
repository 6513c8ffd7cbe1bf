import type { ComponentType } from 'react';
import type { IconName } from '../components/icons/icon.tsx';

/** A page of the product: its place, name, and the code that is loaded with it. */
export interface Page {
  /** Below the path of the UI; `$name` is a parameter. */
  path: string;
  title: string;
  load: () => Promise<{ default: ComponentType }>;
  /** Group of the sidebar; absent for pages that are reached from others. */
  group?: keyof typeof groups;
  icon?: IconName;
  /** Second key after `g`. */
  key?: string;
  /** A token needs any one of these scopes, `scan:read` where none are named. */
  scopes?: readonly string[];
  /** Shown within the page, below its path. */
  tabs?: readonly Page[];
}

export const groups = { main: '', how: 'How scans run', service: 'Service' } as const;

/** Every page. The sidebar, the palette, the keys and the router are made from this table. */
export const pages: readonly Page[] = [
  {
    path: '/',
    title: 'Dashboard',
    group: 'main',
    icon: 'dashboard',
    key: 'd',
    load: () => import('../pages/dashboard/page.tsx'),
  },
  {
    path: '/scans',
    title: 'Scans',
    group: 'main',
    icon: 'scan',
    key: 's',
    load: () => import('../pages/scans/page.tsx'),
  },
  {
    path: '/scans/new',
    title: 'New scan',
    load: () => import('../pages/new-scan/page.tsx'),
    tabs: [
      { path: '/scans/new/', title: 'Targets', load: () => import('../pages/new-scan/targets-step.tsx') },
      {
        path: '/scans/new/profile',
        title: 'Profile',
        load: () => import('../pages/new-scan/profile-step.tsx'),
      },
      {
        path: '/scans/new/options',
        title: 'Options',
        load: () => import('../pages/new-scan/options-step.tsx'),
      },
      {
        path: '/scans/new/notifications',
        title: 'Notifications',
        load: () => import('../pages/new-scan/notifications-step.tsx'),
      },
      { path: '/scans/new/review', title: 'Review', load: () => import('../pages/new-scan/review-step.tsx') },
    ],
  },
  {
    path: '/scans/$scanId',
    title: 'Scan',
    load: () => import('../pages/scan/page.tsx'),
    tabs: [
      { path: '/scans/$scanId/', title: 'Overview', load: () => import('../pages/scan/overview-tab.tsx') },
      { path: '/scans/$scanId/hosts', title: 'Hosts', load: () => import('../pages/scan/hosts-tab.tsx') },
      {
        path: '/scans/$scanId/services',
        title: 'Services',
        load: () => import('../pages/scan/services-tab.tsx'),
      },
      {
        path: '/scans/$scanId/findings',
        title: 'Findings',
        load: () => import('../pages/scan/findings-tab.tsx'),
      },
      { path: '/scans/$scanId/fixes', title: 'Fix list', load: () => import('../pages/scan/fixes-tab.tsx') },
      {
        path: '/scans/$scanId/coverage',
        title: 'Coverage',
        load: () => import('../pages/scan/coverage-tab.tsx'),
      },
      { path: '/scans/$scanId/stages', title: 'Stages', load: () => import('../pages/scan/stages-tab.tsx') },
      { path: '/scans/$scanId/events', title: 'Events', load: () => import('../pages/scan/events-tab.tsx') },
      { path: '/scans/$scanId/raw', title: 'Raw', load: () => import('../pages/scan/raw-tab.tsx') },
    ],
  },
  {
    path: '/jobs',
    title: 'Jobs',
    group: 'main',
    icon: 'job',
    key: 'j',
    scopes: ['job:read', 'scan:read'],
    load: () => import('../pages/jobs/page.tsx'),
  },
  { path: '/jobs/new', title: 'New job', load: () => import('../pages/new-job/page.tsx') },
  { path: '/jobs/$jobId', title: 'Job', load: () => import('../pages/job/page.tsx') },
  {
    path: '/compare',
    title: 'Compare',
    group: 'main',
    icon: 'compare',
    key: 'c',
    load: () => import('../pages/compare/page.tsx'),
  },
  {
    path: '/profiles',
    title: 'Profiles',
    group: 'how',
    icon: 'profile',
    key: 'p',
    load: () => import('../pages/profiles/page.tsx'),
  },
  {
    path: '/profiles/$name',
    title: 'Profile',
    load: () => import('../pages/profiles/profile-page.tsx'),
  },
  {
    path: '/graphs',
    title: 'Graphs',
    group: 'how',
    icon: 'graph',
    load: () => import('../pages/graphs/page.tsx'),
  },
  {
    path: '/graphs/$name',
    title: 'Graph',
    load: () => import('../pages/graphs/graph-page.tsx'),
  },
  {
    path: '/modules',
    title: 'Modules',
    group: 'how',
    icon: 'module',
    load: () => import('../pages/modules/page.tsx'),
  },
  {
    path: '/plugins',
    title: 'Plugins',
    group: 'how',
    icon: 'plugin',
    scopes: ['plugin:read', 'scan:read'],
    load: () => import('../pages/plugins/page.tsx'),
  },
  {
    path: '/workspace',
    title: 'Workspace',
    group: 'service',
    icon: 'workspace',
    scopes: ['workspace:read', 'scan:read'],
    load: () => import('../pages/workspace/page.tsx'),
  },
  {
    path: '/workers',
    title: 'Workers',
    group: 'service',
    icon: 'worker',
    scopes: ['metrics:read'],
    load: () => import('../pages/workers/page.tsx'),
  },
  {
    path: '/alerts',
    title: 'Alerts',
    group: 'service',
    icon: 'alert',
    scopes: ['metrics:read'],
    load: () => import('../pages/alerts/page.tsx'),
    tabs: [
      { path: '/alerts/', title: 'Rules', load: () => import('../pages/alerts/rules-tab.tsx') },
      {
        path: '/alerts/channels',
        title: 'Notification channels',
        load: () => import('../pages/alerts/channels-tab.tsx'),
      },
    ],
  },
  {
    path: '/audit',
    title: 'Audit',
    group: 'service',
    icon: 'audit',
    scopes: ['audit:read'],
    load: () => import('../pages/audit/page.tsx'),
  },
  {
    path: '/settings',
    title: 'Settings',
    group: 'service',
    icon: 'settings',
    // Each token sees its own settings; tabs say what they need.
    scopes: [],
    load: () => import('../pages/settings/page.tsx'),
    tabs: [
      { path: '/settings/', title: 'General', load: () => import('../pages/settings/general-tab.tsx') },
      { path: '/settings/tokens', title: 'Tokens', load: () => import('../pages/settings/tokens-tab.tsx') },
      {
        path: '/settings/configuration',
        title: 'Configuration',
        load: () => import('../pages/settings/configuration-tab.tsx'),
      },
      {
        path: '/settings/license',
        title: 'License',
        load: () => import('../pages/settings/license-tab.tsx'),
      },
    ],
  },
];
