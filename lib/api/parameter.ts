/**
 * A query parameter or header: text, or absent. No zod schema, since every function checks its parameters at every cold
 * start, and to load zod takes a quarter as long as the client of DynamoDB.
 */
export type Parameter<Value = unknown, Absent = unknown> = {
  description: string
  /** The JSON Schema that OpenAPI says of it. */
  schema: Record<string, unknown>
  /** What is allowed, said after the parameter's name when its text is refused. */
  error: string
  /** The value of a text; undefined for one that is refused. */
  read: (text: string) => Value | undefined
  /** The value when it is not given. */
  absent: Absent
}

export type Parameters = Record<string, Parameter>

/** What parameters are read to. */
export type ValuesOf<P> = {
  [Name in keyof P]: P[Name] extends Parameter<infer Value, infer Absent> ? Value | Absent : never
}

type Texts = Record<string, string | undefined>

/** Reads the parameters out of texts, whatever else is among these. */
export function readParameters(
  parameters: Parameters,
  texts: Texts,
): { values: Record<string, unknown>; refused: { name: string; error: string }[] } {
  const values: Record<string, unknown> = {}
  const refused: { name: string; error: string }[] = []
  for (const [name, { read, absent, error }] of Object.entries(parameters)) {
    const text = texts[name]
    const value = text === undefined ? absent : read(text)
    if (value !== undefined) values[name] = value
    else if (text !== undefined) refused.push({ name, error })
  }
  return { values, refused }
}

/** `P` may be absent, and then has this value. */
export function withDefault<Value, const Default>(
  parameter: Parameter<Value, undefined>,
  absent: Default,
): Parameter<Value, Default> {
  return { ...parameter, schema: { ...parameter.schema, default: absent }, absent }
}

export const text = (description: string, pattern?: RegExp, error = ''): Parameter<string, undefined> => ({
  description,
  schema: { type: 'string', ...(pattern && { pattern: pattern.source }) },
  error,
  read: (given) => (!pattern || pattern.test(given) ? given : undefined),
  absent: undefined,
})

export const oneOf = <const Value extends string>(
  values: readonly Value[],
  description: string,
): Parameter<Value, undefined> => ({
  description,
  schema: { type: 'string', enum: values },
  error: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
  read: (given) => values.find((value) => value === given),
  absent: undefined,
})

export const flag = (description: string): Parameter<boolean, undefined> => ({
  description,
  schema: { type: 'boolean' },
  error: 'must be true or false',
  read: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
  absent: undefined,
})

export const wholeNumber = (
  range: { min: number; max: number; default: number },
  description: string,
): Parameter<number, undefined> => ({
  description,
  schema: { type: 'integer', minimum: range.min, maximum: range.max, default: range.default },
  error: `must be a whole number from ${range.min} to ${range.max}`,
  read: (given) => {
    const value = /^[1-9][0-9]{0,3}$/.test(given) ? Number(given) : 0
    return value >= range.min && value <= range.max ? value : undefined
  },
  absent: undefined,
})
