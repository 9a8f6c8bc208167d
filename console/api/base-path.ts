/** What precedes `/console` in the path of the page: the stage or the base path of a custom domain, usually empty. */
export function basePathOf(pathname: string): string {
  const at = pathname.lastIndexOf('/console')
  return at === -1 ? '' : pathname.slice(0, at)
}
