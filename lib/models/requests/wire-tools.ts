import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { JsonObject } from '../../core/json/json.ts'
import { FINAL_ANSWER } from '../../core/model.ts'
import type { ModelName } from '../model-name.ts'
import { supports } from '../providers/model-traits.ts'
import { traitsOf } from '../providers/providers.ts'
import type { StrictRules } from './strict-parts.ts'
import { type StrictSchema, toStrictSchema } from './strict-schema.ts'
import { toWireSchema, type WireSchema } from './wire-schema.ts'

export type ToolSchema = WireSchema & { isStrict: boolean }

/** The schemas of tools as they are sent, by name. The final answer is the first to be strict. */
export function toToolSchemas(
  tools: LanguageModelV4FunctionTool[],
  name: ModelName,
  mayBeStrict: boolean,
): ReadonlyMap<string, ToolSchema> {
  const { strict } = traitsOf(name.provider)
  const toStrict = mayBeStrict && strict && supports(name, 'strictTools') ? strictSchemas(strict) : () => null
  const isAnswer = (tool: LanguageModelV4FunctionTool) => Number(tool.name === FINAL_ANSWER)
  const ordered = tools.toSorted((a, b) => isAnswer(b) - isAnswer(a))
  return new Map(
    ordered.map((tool) => {
      const wireSchema = toWireSchema(tool.inputSchema as JsonObject)
      const strictSchema = toStrict(wireSchema)
      return [tool.name, { ...(strictSchema ?? wireSchema), isStrict: strictSchema !== null }]
    }),
  )
}

const NO_LIMITS = { tools: Infinity, unions: Infinity, optional: Infinity }

/**
 * Converts the schemas of one request to strict ones, as long as they keep its limits together. Where null is too much
 * of a choice, optional fields may be missing.
 */
export function strictSchemas(rules: StrictRules): (wireSchema: WireSchema) => WireSchema | null {
  const left = { ...NO_LIMITS, ...rules.limits }
  return (wireSchema) => {
    const candidates = [true, false].map((isNullable) => () => toStrict(wireSchema, rules, isNullable))
    for (const convert of candidates) {
      const strict = convert()
      const { unions, optional } = strict.counts
      if (left.tools < 1 || unions > left.unions || optional > left.optional) continue
      left.tools--
      left.unions -= unions
      left.optional -= optional
      return {
        schema: strict.schema,
        convertsInputs: true,
        encode: (input) => strict.encode(wireSchema.encode(input)),
        decode: (input) => wireSchema.decode(strict.decode(input)),
      }
    }
    return null
  }
}

type Converted = { rules: StrictRules; isNullable: boolean; strict: StrictSchema }

const known = new WeakMap<WireSchema, Converted[]>()

/** The same object for the same schema: each step of a run sends it again. */
function toStrict(wireSchema: WireSchema, rules: StrictRules, isNullable: boolean): StrictSchema {
  const converted = known.get(wireSchema) ?? []
  known.set(wireSchema, converted)
  const found = converted.find((each) => each.rules === rules && each.isNullable === isNullable)
  if (found) return found.strict
  const strict = toStrictSchema(wireSchema.schema, rules, isNullable)
  converted.push({ rules, isNullable, strict })
  return strict
}
