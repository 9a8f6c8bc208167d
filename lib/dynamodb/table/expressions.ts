export type Item = Record<string, unknown>

/** The expression refers to `#name` and `:value`; `names` and `values` omit these prefixes. */
export type Condition = { expression: string; names?: string[]; values?: Item }

/** Writes only if the item does not exist. */
export const NOT_EXISTS: Condition = { expression: 'attribute_not_exists(pk)' }

/** `setOnce` sets attributes that do not exist yet, `copy` to the value of another. Undefined values are ignored. */
export type Change = {
  set?: Item
  setOnce?: Item
  copy?: Record<string, string>
  remove?: string[]
  add?: Record<string, number>
  condition?: Condition | undefined
}

/** The expression parameters of a DynamoDB request. */
export function expressions(change: Change) {
  const { set = {}, setOnce = {}, copy = {}, remove = [], add = {}, condition } = change
  const given = (item: Item) => Object.keys(item).filter((name) => item[name] !== undefined)
  const values = { ...set, ...setOnce, ...add, ...condition?.values }
  const names = [
    ...given(set),
    ...given(setOnce),
    ...Object.entries(copy).flat(),
    ...remove,
    ...Object.keys(add),
    ...(condition?.names ?? []),
  ]
  const clauses = [
    clause('SET', [
      ...given(set).map((name) => `#${name} = :${name}`),
      ...given(setOnce).map((name) => `#${name} = if_not_exists(#${name}, :${name})`),
      ...Object.entries(copy).map(([name, from]) => `#${name} = #${from}`),
    ]),
    clause(
      'REMOVE',
      remove.map((name) => `#${name}`),
    ),
    clause(
      'ADD',
      Object.keys(add).map((name) => `#${name} :${name}`),
    ),
  ].filter((text) => text !== '')
  return {
    UpdateExpression: clauses.length > 0 ? clauses.join(' ') : undefined,
    ConditionExpression: condition?.expression,
    ExpressionAttributeNames: prefixed(
      '#',
      names.map((name) => [name, name]),
    ),
    ExpressionAttributeValues: prefixed(
      ':',
      given(values).map((name) => [name, values[name]]),
    ),
  }
}

/** Undefined instead of an empty map, which DynamoDB rejects. */
function prefixed<T>(prefix: string, entries: [string, T][]): Record<string, T> | undefined {
  if (entries.length === 0) return undefined
  return Object.fromEntries(entries.map(([name, value]) => [`${prefix}${name}`, value]))
}

const clause = (verb: string, parts: string[]) => (parts.length > 0 ? `${verb} ${parts.join(', ')}` : '')
