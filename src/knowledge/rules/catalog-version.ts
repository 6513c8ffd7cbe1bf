/** Date of the builtin signatures; a scan's results name it. */
export const catalogueVersion = '2026-11-21';
