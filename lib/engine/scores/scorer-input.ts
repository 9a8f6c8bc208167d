import { endOfStep } from '../../core/attempts.ts'
import { maskMacs } from '../../core/callback-mac.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { FINAL_ANSWER } from '../../core/model.ts'
import type { RecordedStep } from '../../core/step.ts'
import { toJsonSchema } from '../../schema/field-map.ts'

/** The run that is scored. `expected`: the output that it should have had, if that is known. */
export type Scorable = {
  input: JsonObject
  output: JsonObject
  expected?: JsonObject | null | undefined
  steps: RecordedStep[]
  /** The slug. */
  agent: string
  version: string
}

/** What a scorer receives: what its input schema declares of the run that is scored. */
export function toScorerInput(inputSchema: JsonObject, { expected, steps, ...run }: Scorable): JsonObject {
  const { properties } = toJsonSchema(inputSchema)
  const declares = (name: string) => isJsonObject(properties) && Object.hasOwn(properties, name)
  const known: JsonObject = {
    ...run,
    ...(expected && { expected }),
    ...(declares('steps') && { steps: steps.map(toStep) }),
  }
  return Object.fromEntries(Object.entries(known).filter(([name]) => declares(name)))
}

/** The fields of a step that have to do with the output, with the names that they have in the API. */
function toStep(recorded: RecordedStep): Json {
  const { step, results } = recorded
  if (step.kind !== 'MODEL') {
    const end = step.kind === 'CODE' ? endOfStep(recorded) : null
    return maskMacs({ name: step.name, ...(end && 'value' in end && { result: end.value }) })
  }
  const calls = step.calls.filter(({ name }) => name !== FINAL_ANSWER)
  const toolCalls = calls.map(({ id, name, input }) => {
    const { result } = results.get(id) ?? {}
    const end = result && (result.ok ? { result: result.value } : { error: result.error })
    return { name, input, ...end }
  })
  return maskMacs({ text: step.text, toolCalls })
}
