export type Item = Record<string, unknown>

/** The expression refers to `#name` and `:value`; `names` and `values` omit these prefixes. */
export type Condition = { expression: string; names?: string[]; values?: Item }

/** Writes only if the item does not exist. */
export const NOT_EXISTS: Condition = { expression: 'attribute_not_exists(pk)' }

/**
 * `setOnce` sets attributes that do not exist yet, `copy` to the value of another. `include` and `exclude`
 * change sets. Undefined values are ignored.
 */
export type Change = {
  set?: Item
  setOnce?: Item
  copy?: Record<string, string>
  remove?: string[]
  add?: Record<string, number>
  include?: Record<string, Set<string>>
  exclude?: Record<string, Set<string>>
  condition?: Condition | undefined
  /** Of the write and its retries: later, it fails with `Unavailable`. Milliseconds since the epoch. */
  sendBefore?: number | undefined
}

/** The expression parameters of a DynamoDB request. */
export function expressions(change: Change) {
  const { set = {}, setOnce = {}, copy = {}, remove = [], add = {}, condition } = change
  const { include = {}, exclude = {} } = change
  const added = { ...add, ...include }
  const values = { ...set, ...setOnce, ...added, ...exclude, ...condition?.values }
  const shape: Shape = {
    set: given(set),
    setOnce: given(setOnce),
    copy,
    remove,
    add: Object.keys(added),
    exclude: Object.keys(exclude),
    condition: condition?.expression,
    names: condition?.names ?? [],
  }
  return { ...prepare(shape), ExpressionAttributeValues: toMap(':', given(values), (name) => values[name]) }
}

const given = (item: Item) => Object.keys(item).filter((name) => item[name] !== undefined)

/** A change without its values: runs have few. */
type Shape = {
  set: string[]
  setOnce: string[]
  copy: Record<string, string>
  remove: string[]
  add: string[]
  exclude: string[]
  condition: string | undefined
  names: string[]
}
type Prepared = ReturnType<typeof toExpressions>

const prepared = new Map<string, Prepared>()
/** Some changes have names that contain ids. */
const MAX_PREPARED = 1_000

function prepare(shape: Shape): Prepared {
  const key = JSON.stringify(shape)
  const known = prepared.get(key)
  if (known) return known
  if (prepared.size === MAX_PREPARED) prepared.clear()
  const result = toExpressions(shape)
  prepared.set(key, result)
  return result
}

function toExpressions({ set, setOnce, copy, remove, add, exclude, condition, names }: Shape) {
  const all = [...set, ...setOnce, ...Object.entries(copy).flat(), ...remove, ...add, ...exclude, ...names]
  const terms = {
    SET: [
      ...set.map((name) => `#${name} = :${name}`),
      ...setOnce.map((name) => `#${name} = if_not_exists(#${name}, :${name})`),
      ...Object.entries(copy).map(([name, from]) => `#${name} = #${from}`),
    ],
    REMOVE: remove.map((name) => `#${name}`),
    ADD: add.map((name) => `#${name} :${name}`),
    DELETE: exclude.map((name) => `#${name} :${name}`),
  }
  const clauses = Object.entries(terms).filter(([, { length }]) => length > 0)
  return {
    UpdateExpression: clauses.map(([verb, list]) => `${verb} ${list.join(', ')}`).join(' ') || undefined,
    ConditionExpression: condition,
    ExpressionAttributeNames: toMap('#', all, (name) => name),
  }
}

/** Undefined instead of an empty map, which DynamoDB rejects. */
function toMap<T>(prefix: string, names: string[], toValue: (name: string) => T) {
  if (names.length === 0) return undefined
  const map: Record<string, T> = {}
  for (const name of names) map[`${prefix}${name}`] = toValue(name)
  return map
}

/** The attributes with these names that the item has. */
export function pick<T extends object, Name extends keyof T>(item: T, names: readonly Name[]): Pick<T, Name> {
  const present = names.filter((name) => item[name] !== undefined)
  return Object.fromEntries(present.map((name) => [name, item[name]])) as Pick<T, Name>
}

/** A condition for the values that are not null; undefined if all are. */
export function isEqual(values: Record<string, string | null | undefined>): Condition | undefined {
  const terms = Object.entries(values).filter(([, value]) => value !== null)
  if (terms.length === 0) return undefined
  return {
    expression: terms.map(([name]) => `#${name} = :${name}`).join(' AND '),
    names: terms.map(([name]) => name),
    values: Object.fromEntries(terms),
  }
}

/** Null adds nothing. */
export const allOf = (...conditions: (Condition | null)[]): Condition => join(' AND ', conditions)

export const anyOf = (...conditions: Condition[]): Condition => join(' OR ', conditions)

function join(operator: string, conditions: (Condition | null)[]): Condition {
  const all = conditions.filter((condition) => condition !== null)
  return {
    expression: all.map(({ expression }) => expression).join(operator),
    names: all.flatMap(({ names = [] }) => names),
    values: Object.assign({}, ...all.map(({ values }) => values)),
  }
}
