/** Name of a network interface (Linux: at most 15 bytes). */
export const interfacePattern = /^[^\s/]{1,15}$/;
/** `interfacePattern` in words. */
export const interfaceForm = 'the name of a network interface';
