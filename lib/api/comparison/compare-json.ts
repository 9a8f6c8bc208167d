/** A value that differs. `path` is a JSON Pointer (RFC 6901); `before` or `after` is absent where there is no such value. */
export type ValueChange = { path: string; before?: unknown; after?: unknown }

type Values = Record<string, unknown>

/**
 * The differences of two JSON values, as deep as both have objects. Lists of named things, such as tools, are compared by
 * name; other lists as a whole.
 */
export function compareJson(before: unknown, after: unknown, path = ''): ValueChange[] {
  const [a, b] = [toValues(before), toValues(after)]
  if (!a || !b) return isEqual(before, after) ? [] : [{ path, ...present({ before, after }) }]
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return names.flatMap((name) =>
    compareJson(memberOf(a, name), memberOf(b, name), `${path}/${escapeName(name)}`),
  )
}

const memberOf = (values: Values, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** The members of an object, or of a list whose items have different names; null for any other value. */
function toValues(value: unknown): Values | null {
  if (typeof value !== 'object' || value === null) return null
  if (!Array.isArray(value)) return value as Values
  const names = new Set(value.map((item) => (item as { name?: unknown } | null)?.name))
  const isNamed = value.length > 0 && names.size === value.length && [...names].every(isText)
  return isNamed ? Object.fromEntries(value.map((item) => [item.name, item])) : null
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** Compares values of which at most one is an object. */
const isEqual = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** Without members that are undefined. */
const present = (values: { before: unknown; after: unknown }) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

const escapeName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
