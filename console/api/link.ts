/**
 * The query of the `next` link in a `Link` header (RFC 8288); null without one. The path is that of the request, so that the
 * query alone says where the list continues.
 */
export function nextQueryOf(header: string | null): URLSearchParams | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const isNext = /;\s*rel="?(?:[^";,]* )?next(?: [^";,]*)?"?\s*(?:[;,]|$)/i.test(parameters)
    if (isNext) return new URLSearchParams(target.split('?')[1] ?? '')
  }
  return null
}
