/** Name of a network interface (Linux: at most 15 bytes). */
export const interfacePattern = /^[^\s/\p{Cc}]{1,15}$/u;
/** `interfacePattern` in words. */
export const interfaceForm = 'the name of a network interface';
