/** Where the console is: the part of the URL after `#`, such as `/runs?status=ERROR`. */
export type Location = { path: string; query: URLSearchParams }

export type Query = Record<string, string | number | boolean | null | undefined>

/** The location in a URL fragment. One without a leading slash is the start page. */
export function parseHash(hash: string): Location {
  const text = hash.replace(/^#/, '')
  const [path = '', ...query] = text.split('?')
  return {
    path: path.startsWith('/') ? path.replace(/(?<=.)\/$/, '') : '/',
    query: new URLSearchParams(query.join('?')),
  }
}

/** A link within the console. Empty and absent values are left out of the query. */
export function toHref(path: string, query: Query = {}): string {
  const text = toSearchParams(query).toString()
  return `#${path}${text && `?${text}`}`
}

/** Empty and absent values are left out. */
export function toSearchParams(query: Query): URLSearchParams {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') given.set(name, String(value))
  return given
}

/** The values of the `{names}` in a pattern, or null if a path does not match it. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const [expected, actual] = [pattern.split('/'), path.split('/')]
  if (expected.length !== actual.length) return null
  const values: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const given = actual[index] ?? ''
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined && part !== given) return null
    if (name !== undefined) values[name] = decodeSegment(given)
  }
  return values
}

/** A path of segments that can contain any character. */
export const toPath = (...segments: string[]): string => `/${segments.map(encodeURIComponent).join('/')}`

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The token in the fragment of a sign-in link (`#token=…`), if it is one. */
export function tokenIn(hash: string): string | null {
  return hash.startsWith('#token=') ? new URLSearchParams(hash.slice(1)).get('token') : null
}
