import { isJsonObject, type JsonObject } from '../../core/json/json.ts'
import { toJsonSchema } from '../field-map.ts'
import { mapSubschemas } from '../subschemas.ts'
import { compilePattern, isSimplePattern, type Matcher } from './compile-pattern.ts'

/** The patterns of a declared schema. Whether one is certain to take linear time can be told after `loadPatterns`. */
export function listPatterns(declared: JsonObject) {
  const patterns: { pattern: string; path: string[]; isKey: boolean; isSupported: () => boolean }[] = []
  mapSubschemas(toJsonSchema(declared), (schema, path) => {
    const { pattern, patternProperties } = schema
    if (typeof pattern === 'string') {
      const isSupported = () => compilePattern(pattern) !== undefined
      patterns.push({ pattern, path: [...path, 'pattern'], isKey: false, isSupported })
    }
    for (const name of namesOf(patternProperties)) {
      const isSupported = () => isSimplePattern(name)
      patterns.push({ pattern: name, path: [...path, 'patternProperties', name], isKey: true, isSupported })
    }
    return schema
  })
  return patterns
}

const PATTERN_FORMAT = 'pattern:'

/** The pattern that a `format` of a linear schema stands for. */
export const patternOfFormat = (format: string): string | undefined =>
  format.startsWith(PATTERN_FORMAT) ? format.slice(PATTERN_FORMAT.length) : undefined

/**
 * Replaces each `pattern` of a JSON Schema that the validator's backtracking engine may not match in linear time by a
 * `format`. The validator has no such extension point for `patternProperties`, which must be simple.
 * @returns the schema, and the matchers of these formats
 * @throws Error for a pattern that is not supported, with which no agent can be published
 */
export function toLinearSchema(jsonSchema: JsonObject) {
  const formats: Record<string, Matcher> = {}
  const schema = mapSubschemas(jsonSchema, (part) => {
    const complexKey = namesOf(part.patternProperties).find((name) => !isSimplePattern(name))
    if (complexKey !== undefined) throw new Error(`Unsupported pattern: ${complexKey}`)
    const { pattern, format, ...others } = part
    if (typeof pattern !== 'string' || isSimplePattern(pattern)) return part
    const matcher = compilePattern(pattern)
    if (!matcher) throw new Error(`Unsupported pattern: ${pattern}`)
    const name = `${PATTERN_FORMAT}${pattern}`
    formats[name] = matcher
    if (format === undefined) return { ...others, format: name }
    const allOf = Array.isArray(others.allOf) ? others.allOf : []
    return { ...others, format: name, allOf: [...allOf, { format }] }
  })
  return { schema, formats }
}

const namesOf = (schemas: unknown) => Object.keys(isJsonObject(schemas) ? schemas : {})
