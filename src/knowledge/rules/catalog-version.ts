/** Date of the builtin signatures; a scan's results name it. */
export const catalogVersion = '2026-11-21';
