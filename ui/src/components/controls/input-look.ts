/** Frame of everything that is typed into. 16 px on touch screens: smaller text makes iOS zoom. */
export const inputLook = [
  'w-full min-w-0 rounded-m border border-line-control bg-surface-1 px-2.5 text-size-13 text-text-1 placeholder:text-text-3',
  'focus-visible:outline-2 focus-visible:-outline-offset-1 focus-visible:outline-focus',
  'aria-invalid:border-state-failed aria-invalid:outline-state-failed',
  'disabled:cursor-not-allowed disabled:text-text-disabled [&:is(input,textarea):read-only]:bg-surface-0',
  'pointer-coarse:text-size-16',
].join(' ');
