import { invalidPathEncoding, invalidQueryEncoding } from '../../lib/http/encoding.ts'

/**
 * Checks the percent-encoding of a URL before it is decoded: decoding replaces invalid UTF-8 by U+FFFD, which makes
 * different values equal.
 * @throws ServiceError `BadRequest` for the path, `InvalidQueryParameter` for the query
 */
export function checkEncoding(url: string): void {
  const [path = '', ...rest] = url.split('?')
  if (!isEncoded(path)) throw invalidPathEncoding()
  const invalid = rest
    .join('?')
    .split('&')
    .filter((parameter) => !isEncoded(parameter))
  if (invalid.length > 0) throw invalidQueryEncoding(invalid.map(nameOf))
}

const nameOf = (parameter: string) => new URLSearchParams(parameter).keys().next().value ?? ''

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
