import type { ReactNode } from 'react';

/** Drawings on a grid of 16 px: stroke 1.5, round, between 2 and 14. */
const drawings = {
  dashboard: <path d="M2.75 2.75h4v5.5h-4zM9.25 2.75h4v2.5h-4zM9.25 7.75h4v5.5h-4zM2.75 10.75h4v2.5h-4z" />,
  scan: <path d="M13.25 8A5.25 5.25 0 1 1 8 2.75M10.5 8A2.5 2.5 0 1 1 8 5.5M8 8l4.25-4.25" />,
  job: <path d="M13.25 8A5.25 5.25 0 1 1 8 2.75c1.9 0 3.4.8 4.5 2.25M12.75 2.5V5h-2.5M8 5.5V8.25l2 1.25" />,
  compare: <path d="M2.75 5.25h9.5M9.75 2.75l2.5 2.5-2.5 2.5M13.25 10.75h-9.5M6.25 8.25l-2.5 2.5 2.5 2.5" />,
  profile: (
    <>
      <path d="M2.75 4.75h4M10.75 4.75h2.5M2.75 11.25h2.5M9.25 11.25h4" />
      <circle cx="8.75" cy="4.75" r="1.75" />
      <circle cx="7.25" cy="11.25" r="1.75" />
    </>
  ),
  graph: (
    <>
      <circle cx="3.75" cy="8" r="1.5" />
      <circle cx="12.25" cy="3.75" r="1.5" />
      <circle cx="12.25" cy="12.25" r="1.5" />
      <path d="M5.25 8H6.5C9 8 8 3.75 10.75 3.75M6.5 8C9 8 8 12.25 10.75 12.25" />
    </>
  ),
  module: <path d="M8 2.25l5 2.9v5.7l-5 2.9-5-2.9v-5.7zM3 5.15L8 8l5-2.85M8 8v5.75" />,
  plugin: <path d="M5.75 2.5v3M10.25 2.5v3M3.75 5.5h8.5v1.75a4.25 4.25 0 0 1-8.5 0zM8 11.5v2.25" />,
  worker: (
    <path d="M4.25 4.25h7.5v7.5h-7.5zM6.75 6.75h2.5v2.5h-2.5zM6.25 4.25v-2M9.75 4.25v-2M6.25 13.75v-2M9.75 13.75v-2M2.25 6.25h2M2.25 9.75h2M11.75 6.25h2M11.75 9.75h2" />
  ),
  workspace: (
    <path d="M3 4.25c0-1 2.2-1.75 5-1.75s5 .75 5 1.75S10.8 6 8 6 3 5.25 3 4.25zM3 4.25v7.5c0 1 2.2 1.75 5 1.75s5-.75 5-1.75v-7.5M3 8c0 1 2.2 1.75 5 1.75S13 9 13 8" />
  ),
  alert: <path d="M4.25 11V7a3.75 3.75 0 0 1 7.5 0v4l1 1.25h-9.5zM6.75 14h2.5" />,
  audit: <path d="M4 2.5h8v11H4zM6.25 5.5h3.5M6.25 8h3.5M6.25 10.5h2" />,
  settings: (
    <>
      <path d="M8 2.25l5 2.9v5.7l-5 2.9-5-2.9v-5.7z" />
      <circle cx="8" cy="8" r="2" />
    </>
  ),
  compass: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M10.5 5.5L9 9l-3.5 1.5L7 7z" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.25" />
      <path d="M10.25 10.25l3.25 3.25" />
    </>
  ),
  plus: <path d="M8 3.25v9.5M3.25 8h9.5" />,
  x: <path d="M4 4l8 8M12 4l-8 8" />,
  check: <path d="M3.25 8.5l3 3 6.5-7" />,
  right: <path d="M6.25 3.75L10.5 8l-4.25 4.25" />,
  down: <path d="M3.75 6.25L8 10.5l4.25-4.25" />,
  arrow: <path d="M3 8h10M9 4l4 4-4 4" />,
  up: <path d="M8 13V3M4 7l4-4 4 4" />,
  'arrow-down': <path d="M8 3v10M12 9l-4 4-4-4" />,
  play: <path d="M5 3.25l7.5 4.75L5 12.75z" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  stop: <path d="M4 4h8v8H4z" />,
  retry: <path d="M12.9 9.25A5 5 0 1 1 11.5 4.4L13 5.75M13 2.75v3h-3" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2" />,
  filter: <path d="M2.5 4.25h11M4.75 8h6.5M6.75 11.75h2.5" />,
  columns: <path d="M2.75 3.25h10.5v9.5H2.75zM6.25 3.25v9.5M9.75 3.25v9.5" />,
  copy: <path d="M5.75 5.75h7.5v7.5h-7.5zM10.25 5.75v-3h-7.5v7.5h3" />,
  download: <path d="M8 2.75v7M5 7l3 3 3-3M2.75 13.25h10.5" />,
  external: <path d="M6.5 3.25H3.25v9.5h9.5V9.5M9.25 2.75h4v4M13 3L7.5 8.5" />,
  link: (
    <path d="M6.5 9.5l3-3M7 4.75l1.25-1.25a2.8 2.8 0 0 1 4 4L11 8.75M9 11.25L7.75 12.5a2.8 2.8 0 0 1-4-4L5 7.25" />
  ),
  host: <path d="M2.75 3h10.5v4H2.75zM2.75 9h10.5v4H2.75zM5.25 5h.01M5.25 11h.01" />,
  router: (
    <path d="M2.75 8.25h10.5v4.5H2.75zM5.25 10.5h.01M7.75 10.5h.01M11 8.25v-5M8.5 3.5a3.6 3.6 0 0 1 5 0" />
  ),
  desktop: <path d="M2.75 3.25h10.5v7H2.75zM6 13h4M8 10.25V13" />,
  printer: <path d="M4.75 6V2.75h6.5V6M4.75 11.25h-2V6h10.5v5.25h-2M4.75 9.25h6.5v4h-6.5z" />,
  unknown: (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <path d="M6.5 6.6a1.5 1.5 0 1 1 2.2 1.35c-.5.25-.7.5-.7 1.05M8 11h.01" />
    </>
  ),
  service: <path d="M2.75 6.25v3.5M5.25 4v8M8 2.5v11M10.75 5v6M13.25 6.75v2.5" />,
  finding: <path d="M3.75 13.5V2.75h8l-1.75 3 1.75 3h-8" />,
  fix: (
    <path d="M10 2.9a3.2 3.2 0 0 0-3.2 4.55L2.95 11.3a1.25 1.25 0 0 0 1.75 1.75L8.55 9.2A3.2 3.2 0 0 0 13.1 6l-1.85 1.85-2.3-.8-.8-2.3z" />
  ),
  lock: <path d="M3.75 7.25h8.5v6h-8.5zM5.5 7.25V5.5a2.5 2.5 0 0 1 5 0v1.75" />,
  key: (
    <>
      <circle cx="5.25" cy="10.75" r="2.5" />
      <path d="M7 9l5.75-5.75M10.5 5.5l1.75 1.75" />
    </>
  ),
  warning: <path d="M8 2.75l5.75 10.5H2.25zM8 6.75v3M8 11.5h.01" />,
  about: (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <path d="M8 7.5v3.25M8 5.25h.01" />
    </>
  ),
  offline: (
    <path d="M2.75 2.75l10.5 10.5M2.5 6.5A8.6 8.6 0 0 1 4.6 5M7 4.2a8.5 8.5 0 0 1 6.5 2.3M4.75 9a5 5 0 0 1 2.3-1.3M10.4 8.3l.85.7M8 12h.01" />
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.5" />
      <path d="M8 2v1.25M8 12.75V14M2 8h1.25M12.75 8H14M3.75 3.75l.9.9M11.35 11.35l.9.9M3.75 12.25l.9-.9M11.35 4.65l.9-.9" />
    </>
  ),
  terminal: <path d="M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10h2.5" />,
  tenant: <path d="M3.25 13.25V2.75h6v10.5M9.25 6.25h3.5v7M2 13.25h12M5.5 5.5h1.5M5.5 8h1.5M5.5 10.5h1.5" />,
  calendar: <path d="M2.75 3.75h10.5v9.5H2.75zM2.75 6.75h10.5M5.5 2.25v2.5M10.5 2.25v2.5" />,
  menu: <path d="M2.5 4.25h11M2.5 8h11M2.5 11.75h11" />,
  pin: <path d="M5.5 2.5h5M6.25 2.5v4L4 9.25h8L9.75 6.5v-4M8 9.25v4.25" />,
  'state-pending': <circle cx="8" cy="8" r="5.25" strokeDasharray="2 2.12" />,
  'state-running': (
    <>
      <circle cx="8" cy="8" r="5.25" strokeOpacity=".28" />
      <path d="M8 2.75A5.25 5.25 0 0 1 13.25 8" />
    </>
  ),
  'state-completed': (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <path d="M5.75 8.25l1.5 1.5 3-3.25" />
    </>
  ),
  'state-failed': (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <path d="M6.25 6.25l3.5 3.5M9.75 6.25l-3.5 3.5" />
    </>
  ),
  'state-paused': (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <path d="M6.75 6.25v3.5M9.25 6.25v3.5" />
    </>
  ),
  'state-interrupted': (
    <path d="M11.2 3.85A5.25 5.25 0 0 0 3.85 11.2M4.8 12.15A5.25 5.25 0 0 0 12.15 4.8M8.5 5.5L7 8h2l-1.5 2.5" />
  ),
  'state-canceled': (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <path d="M4.4 11.6l7.2-7.2" />
    </>
  ),
  'state-skipped': (
    <>
      <circle cx="8" cy="8" r="5.25" strokeOpacity=".5" />
      <path d="M6 8h4" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof drawings;

export interface IconProps {
  name: IconName;
  /** Pixels; 14 within rows. */
  size?: 16 | 14;
  /** Only where no word stands beside the icon; without it the icon is hidden from screen readers. */
  label?: string;
  className?: string;
}

/** An icon in the color of its text. */
export function Icon({ name, size = 16, label, className = '' }: IconProps): ReactNode {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      className={`inline-block flex-none align-[-3px] ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {label === undefined ? null : <title>{label}</title>}
      {drawings[name]}
    </svg>
  );
}
