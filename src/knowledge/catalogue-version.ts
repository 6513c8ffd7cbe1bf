/** Day on which the builtin knowledge last changed; stands in every result, so that it can be explained later. */
export const catalogueVersion = '2026-11-21';
