const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]\\d|\\d)';
const quad = `(?:${octet}\\.){3}${octet}`;
const group = '[0-9a-fA-F]{1,4}';
const ipv4 = new RegExp(`^${quad}$`);
/** RFC 4291 section 2.2, by the number of groups before the `::`. */
const ipv6 = new RegExp(
  `^(?:(?:${group}:){7}(?:${group}|:)|` +
    `(?:${group}:){6}(?:${quad}|:${group}|:)|` +
    `(?:${group}:){5}(?::${quad}|(?::${group}){1,2}|:)|` +
    `(?:${group}:){4}(?:(?::${group})?:${quad}|(?::${group}){1,3}|:)|` +
    `(?:${group}:){3}(?:(?::${group}){0,2}:${quad}|(?::${group}){1,4}|:)|` +
    `(?:${group}:){2}(?:(?::${group}){0,3}:${quad}|(?::${group}){1,5}|:)|` +
    `(?:${group}:)(?:(?::${group}){0,4}:${quad}|(?::${group}){1,6}|:)|` +
    `(?::(?:(?::${group}){0,5}:${quad}|(?::${group}){1,7}|:)))` +
    '(?:%[0-9a-zA-Z\\-.:]+)?$',
);

/** What the two kinds of addresses look like. */
export const addressPatterns = [ipv4, ipv6];

/** Which kind of address a text is, by the rules of `net.isIP`, in any JavaScript engine. */
export function addressFamily(text: string): 4 | 6 | null {
  if (ipv4.test(text)) return 4;
  return text.includes(':') && ipv6.test(text) ? 6 : null;
}
