/** @returns whether `place` is a PostgreSQL URL */
export function isPostgresUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place);
}

/** URL without its password, for messages: removed up to the last @, as clients parse it. */
export function shownUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/]*):[^/?#]*@/, '$1@').replace(/([?&]password=)[^&#]*/gi, '$1***');
}
